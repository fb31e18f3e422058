var B,jn,Dr,Ie,Jt,kt,qn,yt,Un,Qt,Gt,Rr,lt=Symbol.for("pv"),Et={},xt=[],Or=/^m(i|n|o|s|text|space)$/,Yt=Array.isArray,Xt=xt.slice,Je=Object.assign;function Ve(e){e&&e.parentNode&&e.remove()}function Hn(e,t,n){var o,s,a,i={},l=arguments.length;for(a in t)a=="key"?o=t[a]:a=="ref"&&typeof e!="function"?s=t[a]:i[a]=t[a];return l>2&&(i.children=l>3?Xt.call(arguments,2):n),it(e,i,o,s,null)}function it(e,t,n,o,s){var a={type:e,props:t,key:n,ref:o,__k:null,__:null,__b:0,__e:null,__c:null,constructor:lt,__v:s||++jn,__i:-1,__u:0};return!s&&B.vnode&&B.vnode(a),a}function Tt(e){return e.children}function tt(e,t){this.props=e,this.context=t,this.__g=0}function Ne(e,t){if(t==null)return e.__&&Ne(e.__,e.__i+1);for(var n;t<e.__k.length;t++)if((n=e.__k[t])&&n.__e)return n.__e;return typeof e.type!="function"||e.props.__P?null:Ne(e)}function Ar(e){var t,n=e.__v,o=n.__e,s=[],a=[],i=e.__P;i&&((t=Je({constructor:lt},n)).__v=n.__v+1,B.vnode&&B.vnode(t),Zt(i,t,n,e.__n,i.namespaceURI,32&n.__u?[o]:null,s,o||Ne(n),32&n.__u,a),t.__v=n.__v,t.__.__k[t.__i]=t,Jn(s,t,a),n.__=n.__e=null,t.__e!=o&&Wn(t))}function Wn(e){if((e=e.__)&&e.__c&&!e.props.__P)return e.__e=null,e.__k.some(function(t){return t&&(e.__e=t.__e)}),Wn(e)}function Pn(e){(8&e.__g||(e.__g|=8,Ie.push(e),kt++))&&Jt==B.debounceRendering||((Jt=B.debounceRendering)||queueMicrotask)(Bn)}function Bn(){try{for(var e,t=1;Ie.length;)Ie.length>t&&Ie.sort(qn),e=Ie.shift(),t=Ie.length,8&e.__g&&Ar(e)}finally{(kt=Ie.length)&&(Jt||queueMicrotask)(Bn)}}function Kn(e,t,n,o,s,a,i,l,u,d,c){var h,m,p,f,v,g,x=o.__k||xt,y=t.length;for(u=Ir(n,t,x,u,y),h=0;h<y;h++)(p=n.__k[h])!=null&&(m=~p.__i&&x[p.__i]||Et,p.__i=h,g=Zt(e,p,m,s,a,i,l,u,d,c),f=p.__e,(m.ref!=p.ref||8&m.__u)&&(m.ref&&en(m.ref,null,p,m),p.ref&&c.push(p.ref,p.__c||f,p)),v=v||f,4&p.__u?(u=zn(p,u,e,!m.__v),m.__e&&(m.__e=null)):typeof p.type=="function"&&g!==void 0?u=g:f&&(u=f.nextSibling),p.__u&=-21);return n.__e=v,u}function Ir(e,t,n,o,s){var a,i,l,u,d,c,h,m,p,f=n.length,v=f,g=0,x=0,y=e.__k=Array(s);for(a=0;a<s;a++)(i=t[a])!=null&&typeof i!="boolean"&&typeof i!="function"?(typeof i!="object"||i.constructor===String?i=y[a]=it(null,i):Yt(i)?i=y[a]=it(Tt,{children:i}):i.constructor===lt&&i.__b?i=y[a]=it(i.type,i.props,i.key,i.ref,i.__v):y[a]=i,u=a+g,i.__=e,i.__b=e.__b+1,l=null,~(d=i.__i=Nr(i,n,u,v))&&(v--,(l=n[d])&&(l.__u|=2)),l&&l.__v?(i.__u|=16,d==u-1?g--:d==u+1?g++:d!=u&&(d>u?g--:g++,x=1)):(~d||(s>f?g--:s<f&&g++),typeof i.type!="function"&&(i.__u|=4))):y[a]=null;if(x){for(c=[],h=[],a=0;a<s;a++)if((i=y[a])&&16&i.__u){for(g=0,m=c.length;g<m;)c[p=g+m>>1]<i.__i?g=p+1:m=p;c[g]=i.__i,h[a]=g+1}for(g=c.length;a--;)h[a]&&(h[a]==g?g--:y[a].__u|=4)}if(v)for(a=0;a<f;a++)!(l=n[a])||2&l.__u||(l.__e==o&&(o=Ne(l)),tn(l,l));return o}function zn(e,t,n,o){var s,a,i,l;if(typeof e.type=="function"){if(e.props.__P)return t;if(s=e.__k)for(a=0;a<s.length;a++)s[a]&&(s[a].__=e,t=zn(s[a],t,n,!1));return t}for(t&&!t.parentNode&&(t=Ne(e))&&!t.parentNode&&(t=null),i=e.__e,l=t;l&&l.nodeType==8;)l=l.nextSibling;for(i!=l&&(!o&&n.moveBefore&&i.parentNode?n.moveBefore(i,t):n.insertBefore(i,t||null)),t=i;(t=t&&t.nextSibling)&&t.nodeType==8&&!t.data.startsWith("$s"););return t}function Nr(e,t,n,o){var s,a=e.key,i=e.type,l=t[n],u=l&&!(2&l.__u);if(l===null&&a==null||u&&a==l.key&&i==l.type)return n;if(o>(u?1:0)){for(s=n-1;s>=0;s--)if((l=t[s])&&!(2&l.__u)&&a==l.key&&i==l.type)return s;for(s=n+1;s<t.length;s++)if((l=t[s])&&!(2&l.__u)&&a==l.key&&i==l.type)return s}return-1}function Fn(e,t,n){n==null&&(n=""),t[0]=="-"?e.setProperty(t,n):e[t]=n}function bt(e,t,n,o,s){var a,i;if(t=="style")if(typeof n=="string")e.style.cssText=n;else{if(typeof o=="string"&&(e.style.cssText=o=""),o)for(t in o)n&&t in n||Fn(e.style,t);if(n)for(t in n)o&&n[t]==o[t]||Fn(e.style,t,n[t])}else if(t[0]=="o"&&t[1]=="n")typeof n!="function"&&(n=null),typeof o!="function"&&(o=null),(e.__e||(e.__e={}))[t]=n,n&&o||(i=Gt[t]||(Gt[t]=Mr(t)),(e.__a||(e.__a={}))[t]=Qt,a=t!=(t=t.replace(Un,"$1")),(t=t.slice(2))[0]<"a"&&(t=t.toLowerCase()),n?e.addEventListener(t,i,a):e.removeEventListener(t,i,a));else{if(s=="http://www.w3.org/2000/svg")t=t.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if(t!="width"&&t!="height"&&t!="href"&&t!="list"&&t!="form"&&t!="tabIndex"&&t!="download"&&t!="rowSpan"&&t!="colSpan"&&t!="role"&&t!="popover"&&t in e)try{return void(e[t]=n??"")}catch{}if(typeof n=="function")return;n==null||n===!1&&t[4]!="-"?e.removeAttribute(t):e.setAttribute(t,t=="popover"&&n==1?"":n)}}function Mr(e){return function(t){var n=this.__e;if(n){if(n=n[e],t[yt]==null)t[yt]=Qt++;else if(t[yt]<this.__a[e])return;return n(B.event?B.event(t):t)}}}function Zt(e,t,n,o,s,a,i,l,u,d){var c,h,m,p,f,v,g,x,y,I,M,k,J,ae,re,se,G,Y,w=t.type;if(t.constructor!==lt)return null;128&n.__u&&(u=32&n.__u,c=n.__c.__z)&&(t.__u|=u,h=a=[],c.nodeType==8?l=wt(c,a):a.push(c),l=a[0]||l),(c=B.__b)&&c(t);e:if(typeof w=="function"){m=i.length;try{if(x=t.props,y=(c=w.prototype)&&c.render,I=(c=w.contextType)&&o[c.__c],M=c?I?I.props.value:c.__:o,(p=n.__c)?(t.__c=p,2&p.__g&&(p.__g|=1)):(y?t.__c=p=new w(x,M):(t.__c=p=new tt(x,M),p.constructor=w,p.render=Pr),I&&I.sub(p),p.state||(p.state={}),p.__n=o,p.__g|=8,p.__h=[],p.__k=[]),y&&(p.__s||(p.__s=p.state),w.getDerivedStateFromProps&&(p.__s==p.state&&(p.__s=Je({},p.__s)),Je(p.__s,w.getDerivedStateFromProps(x,p.__s)))),f=p.props,v=p.state,p.__v=t,n.__c){if(x!==f&&y&&!w.getDerivedStateFromProps&&p.componentWillReceiveProps&&p.componentWillReceiveProps(x,M),t.__v==n.__v&&!(8&p.__g)||!(4&p.__g)&&p.shouldComponentUpdate&&p.shouldComponentUpdate(x,p.__s,M)===!1){t.__v!=n.__v&&(p.props=x,p.state=p.__s,p.__g&=-9),t.__e=n.__e,t.__k=n.__k,t.__k.some(function(_){_&&(_.__=t)}),xt.push.apply(p.__h,p.__k),p.__k=[],p.__h.length&&i.push(p),l=Ne(n);break e}p.componentWillUpdate&&p.componentWillUpdate(x,p.__s,M),y&&p.componentDidUpdate&&p.__h.push(function(){p.componentDidUpdate(f,v,g)})}else y&&!w.getDerivedStateFromProps&&p.componentWillMount&&p.componentWillMount(),y&&p.componentDidMount&&p.__h.push(p.componentDidMount);p.context=M,p.props=x,p.__P=e,p.__g&=-5,k=B.__r,J=y?25:0;do p.__g&=-9,k&&k(t),c=p.render(p.props,p.state=p.__s,p.context);while(8&p.__g&&++J<25);y&&(xt.push.apply(p.__h,p.__k),p.__k=[]),p.state=p.__s,p.getChildContext&&(o=Je({},o,p.getChildContext())),y&&n.__c&&p.getSnapshotBeforeUpdate&&(g=p.getSnapshotBeforeUpdate(f,v)),ae=c&&c.type===Tt&&c.key==null?c.props.children:c,x.__P&&(c=l,s=(e=x.__P).namespaceURI,u=a=null,n.props&&n.props.__P!=e&&(n.__k.some(function(_){_&&tn(_,_)}),n.__k=null),l=n.__k?Ne(n,0):null),l=Kn(e,Yt(ae)?ae:[ae],t,n,o,s,a,i,l,u,d),x.__P&&(t.__e=null,l=c),t.__u&=-161,h&&h.some(Ve),p.__h.length&&i.push(p),1&p.__g&&(p.__g&=-4)}catch(_){if(i.length=m,t.__v=null,u||a)if(_&&_.then){if(t.__u|=128|u,a){for(~(G=a.indexOf(l||void 0))||(G=a.length);(Y=a[G-1])&&Y.nodeType==8;)G--;for(;G<a.length;G++)if(Y=a[G])if(a[G]=null,re){if(Y==se)break}else{if(Y.nodeType!=8)break;Y.data.startsWith("$s")&&(se=wt(re=Y))}}if(!re){for(;l&&l.nodeType==8&&l.nextSibling;)l=l.nextSibling;re=l}(c=wt(re=t.__c.__z||(t.__c.__z=re)))?(t.__e=re,l=c):t.__e=l,l=l&&l.nextSibling}else a&&a.some(Ve);else t.__e=n.__e;t.__k||(t.__k=n.__k||[]),_&&_.then||Vn(t),B.__e(_,t,n)}}else l=t.__e=Lr(n.__e,t,n,o,s,a,i,u,d,e);return(c=B.diffed)&&c(t),l}function wt(e,t){if(e&&e.nodeType==8&&e.data.startsWith("$s"))for(var n=1;e=e.nextSibling;){if(e.nodeType==8){if(e.data.startsWith("$s"))n++;else if(e.data.startsWith("/$s")&&!--n)return e}t&&t.push(e)}}function Vn(e){e&&(e.__c&&(e.__c.__g|=4),e.__k&&e.__k.some(Vn))}function Jn(e,t,n){for(var o=0;o<n.length;)en(n[o++],n[o++],n[o++]);B.__c&&B.__c(t,e),e.some(function(s){try{e=s.__h,s.__h=[],e.some(function(a){a.call(s)})}catch(a){B.__e(a,s.__v)}})}function Lr(e,t,n,o,s,a,i,l,u,d){var c,h,m,p,f,v,g,x,y=n.props||Et,I=t.props,M=t.type;if(M=="svg"?s="http://www.w3.org/2000/svg":M=="math"?s="http://www.w3.org/1998/Math/MathML":s||(s="http://www.w3.org/1999/xhtml"),a){for(c=0;c<a.length;c++)if((f=a[c])&&(M?f.localName==M:f.nodeType==3)){e=f,a[c]=null;break}}if(!e){if(x=d.ownerDocument||document,!M)return x.createTextNode(I);e=x.createElementNS(s,M,I.is?I:d),l&&(B.__m&&B.__m(t,a),l=!1),a=null}if(M){if(d=M=="template"&&e.content||e,a=M=="textarea"&&I.defaultValue!=null?null:a&&Xt.call(d.childNodes),!l&&a)for(y={},c=0;c<e.attributes.length;c++)y[(f=e.attributes[c]).name]=f.value;for(c in y)f=y[c],c=="dangerouslySetInnerHTML"?m=f:c=="children"||c in I||c=="value"&&"defaultValue"in I||c=="checked"&&"defaultChecked"in I||bt(e,c,null,f,s);for(c in I)f=I[c],c=="children"?p=f:c=="dangerouslySetInnerHTML"?h=f:c=="value"?v=f:c=="checked"?g=f:l&&typeof f!="function"||y[c]===f||bt(e,c,f,y[c],s);h?(l||m&&(h.__html==m.__html||h.__html==e.innerHTML)||(e.innerHTML=h.__html),t.__k=[]):(m&&(e.textContent=""),(M=="foreignObject"||s=="http://www.w3.org/1998/Math/MathML"&&Or.test(M))&&(s="http://www.w3.org/1999/xhtml"),Kn(d,Yt(p)?p:[p],t,n,o,s,a,i,a?a[0]:n.__k&&Ne(n,0),l,u),a&&a.some(Ve)),l&&M!="textarea"||(c="value",M=="progress"&&v==null?e.removeAttribute(c):v==null||v===e[c]&&(M!="progress"||v)||bt(e,c,v,y[c],s),c="checked",g!=null&&g!=e[c]&&bt(e,c,g,y[c],s))}else y===I||l&&e.data==I||(e.data=I);return e}function en(e,t,n,o){try{typeof e=="function"?t?t.__x=e(t)||1:o&&(o=o.__c||o.__e)&&(t=o.__x)&&(o.__x=null,typeof t=="function"?t():e(null)):e.current=t}catch(s){B.__e(s,n)}}function tn(e,t,n){var o,s,a,i;if(B.unmount&&B.unmount(e),!(o=e.ref)||o.current&&o.current!=e.__e||en(o,null,t,e),o=e.__c){if(o.componentWillUnmount)try{o.componentWillUnmount()}catch(l){B.__e(l,t)}o.__P=o.__n=null}if(o=e.__k)for(i=0;i<o.length;i++)o[i]&&tn(o[i],t,typeof e.type!="function"||n&&!e.props.__P);!n&&(o=e.__c)&&(o=o.__z)&&(s=wt(o,a=[]))&&(o==e.__e&&a.some(Ve),Ve(s),Ve(o)),n||Ve(e.__e),e.__e=e.__c=e.__=null}function Pr(e,t,n){return this.constructor(e,n)}function Gn(e,t){var n,o,s,a;B.__&&B.__(e,t),t.nodeType==9&&(t=t.documentElement),o=(n=e&&32&e.__u)?null:t.__k,t.__k=it(Tt,{children:[e]}),s=[],a=[],Zt(t,t.__k,o||Et,Et,t.namespaceURI,o?null:t.firstChild?Xt.call(t.childNodes):null,s,o?o.__e:t.firstChild,n,a),Jn(s,t.__k,a),t.__k.props.children=null}B={__e:function(e,t,n,o){for(var s,a,i;t=t.__;)if((s=t.__c)&&!(1&s.__g)){s.__g|=4;try{if((i=(a=s.constructor)&&a.getDerivedStateFromError)&&s.setState(a.getDerivedStateFromError(e)),s.componentDidCatch&&(s.componentDidCatch(e,o||{}),i=1),i&&8&s.__g)return void(s.__g|=2)}catch(l){e=l}}throw kt=0,e}},jn=0,Dr=function(e){return e!=null&&e.constructor===lt},tt.prototype.setState=function(e,t){var n=this.__s;n&&n!=this.state||(n=this.__s=Je({},this.state)),typeof e=="function"&&(e=e(Je({},n),this.props)),e&&(Je(n,e),this.__v&&(t&&this.__k.push(t),Pn(this)))},tt.prototype.forceUpdate=function(e){this.__v&&(this.__g|=4,e&&this.__h.push(e),Pn(this))},tt.prototype.render=Tt,Ie=[],kt=0,qn=function(e,t){return e.__v.__b-t.__v.__b},yt=Symbol(),Un=/(PointerCapture)$|Capture$/i,Qt=0,Gt={},Rr=0;var Ge,te,nn,Qn,on=Object.is,St=0,so=[],rn=[],ee=B,Yn=ee.__b,Xn=ee.__r,Zn=ee.diffed,eo=ee.__c,to=ee.unmount,no=ee.__;function ut(e,t){ee.__h&&ee.__h(te,e,St||t),St=0;var n=te.__H||(te.__H={__:[],__h:[]});return e>=n.__.length&&n.__.push({}),n.__[e]}function $(e){return St=1,Fr(ao,e)}function Fr(e,t,n){var o=ut(Ge++,2);if(o.t=e,!o.__c&&(o.__=[n?n(t):ao(void 0,t),function(a){var i=(o.__N||o.__)[0],l=o.t(i,a);on(i,l)||(o.__N=[l,o.__[1]],o.__c.setState({}))}],o.__c=te,!te.__f)){te.__f=!0;var s=te.shouldComponentUpdate;te.shouldComponentUpdate=function(a,i,l){var u=this.__H;if(!u)return!0;var d=!1,c=this.props!=a;if(u.__.some(function(m){m.__N&&(d=!0,on(m.__[0],m.__N[0])||(c=!0))}),s){var h=s.call(this,a,i,l);return d?h||c:h}return!d||c}}return o.__}function S(e,t){var n=ut(Ge++,3);!ee.__s&&an(n.__H,t)&&(n.__P=!0,n.__=e,n.u=t,te.__H.__h.push(n))}function pt(e,t){var n=ut(Ge++,4);!ee.__s&&an(n.__H,t)&&(n.__P=!1,n.__=e,n.u=t,te.__h.push(n))}function Q(e){return St=5,pe(function(){return{current:e}},[])}function pe(e,t){var n=ut(Ge++,7);return an(n.__H,t)&&(n.__=e(),n.__H=t),n.__}function dt(){var e=ut(Ge++,11);if(!e.__){for(var t=te.__v;!t.__m&&t.__;)t=t.__;var n=t.__m||(t.__m=[0,0]);e.__="P"+n[0]+"-"+n[1]++}return e.__}function jr(){var e;do{for(;e=rn.shift();)try{ct(e)}catch(n){ee.__e(n,{__:(e=e.__P)&&e.__v})}for(;e=so.shift();){var t=e.__H;if(e.__P&&t)try{t.__h.some(ct),t.__h.some(sn),t.__h=[]}catch(n){t.__h=[],ee.__e(n,e.__v)}}}while(rn.length)}ee.__b=function(e){te=null,Yn&&Yn(e)},ee.__=function(e,t){e&&t.__k&&t.__k.__m&&(e.__m=t.__k.__m),no&&no(e,t)},ee.__r=function(e){Xn&&Xn(e),Ge=0;var t=(te=e.__c).__H;t&&(nn==te?te.__h=[]:(t.__h.some(ct),t.__h.some(sn),Ge=0),t.__h=[],t.__.some(function(n){n.__N&&(n.__=n.__N),n.u=n.__N=void 0})),nn=te},ee.diffed=function(e){Zn&&Zn(e);var t=e.__c;t&&t.__H&&(t.__H.__h.length&&ro(so.push(t)),t.__H.__.some(function(n){n.u&&(n.__H=n.u)})),nn=te=null},ee.__c=function(e,t){t.some(function(n){try{n.__h.some(ct),n.__h=n.__h.filter(function(o){return!o.__||sn(o)})}catch(o){n.__h=[function(){throw o}]}}),eo&&eo(e,t)},ee.unmount=function(e){to&&to(e);var t,n,o=e.__c;o&&o.__H&&(o.__H.__.some(function(s){try{if(s.__P&&s.__c){if(n===void 0){for(n=e.__;n&&(!n.__c||!n.__c.__P);)n=n.__;n=n&&n.__c}s.__P=n,ro(rn.push(s))}else ct(s)}catch(a){t=a}}),o.__H=void 0,t&&ee.__e(t,o.__v))};var oo=typeof requestAnimationFrame=="function";function qr(e){var t,n=function(){clearTimeout(o),oo&&cancelAnimationFrame(t),setTimeout(e)},o=setTimeout(n,35);oo&&(t=requestAnimationFrame(n))}function ro(e){e!=1&&Qn==ee.requestAnimationFrame||((Qn=ee.requestAnimationFrame)||qr)(jr)}function ct(e){var t=te,n=e.__c;typeof n=="function"&&(e.__c=void 0,n()),te=t}function sn(e){var t=te;e.__c=e.__(),te=t}function an(e,t){return!e||e.length!=t.length||t.some(function(n,o){return!on(n,e[o])})}function ao(e,t){return typeof t=="function"?t(e):t}var lo=function(e,t,n,o){var s;t[0]=0;for(var a=1;a<t.length;a++){var i=t[a++],l=t[a]?(t[0]|=i?1:2,n[t[a++]]):t[++a];i===3?o[0]=l:i===4?o[1]=Object.assign(o[1]||{},l):i===5?(o[1]=o[1]||{})[t[++a]]=l:i===6?o[1][t[++a]]+=l+"":i?(s=e.apply(l,lo(e,l,n,["",null])),o.push(s),l[0]?t[0]|=2:(t[a-2]=0,t[a]=s)):o.push(l)}return o},io=new Map;function co(e){var t=io.get(this);return t||(t=new Map,io.set(this,t)),(t=lo(this,t.get(e)||(t.set(e,t=(function(n){for(var o,s,a=1,i="",l="",u=[0],d=function(m){a===1&&(m||(i=i.replace(/^\s*\n\s*|\s*\n\s*$/g,"")))?u.push(0,m,i):a===3&&(m||i)?(u.push(3,m,i),a=2):a===2&&i==="..."&&m?u.push(4,m,0):a===2&&i&&!m?u.push(5,0,!0,i):a>=5&&((i||!m&&a===5)&&(u.push(a,0,i,s),a=6),m&&(u.push(a,m,0,s),a=6)),i=""},c=0;c<n.length;c++){c&&(a===1&&d(),d(c));for(var h=0;h<n[c].length;h++)o=n[c][h],a===1?o==="<"?(d(),u=[u],a=3):i+=o:a===4?i==="--"&&o===">"?(a=1,i=""):i=o+i[0]:l?o===l?l="":i+=o:o==='"'||o==="'"?l=o:o===">"?(d(),a=1):a&&(o==="="?(a=5,s=i,i=""):o==="/"&&(a<5||n[c][h+1]===">")?(d(),a===3&&(u=u[0]),a=u,(u=u[0]).push(2,0,a),a=0):o===" "||o==="	"||o===`
`||o==="\r"?(d(),a=2):i+=o),a===3&&i==="!--"&&(a=4,u=u[0])}return d(),u})(e)),t),arguments,[])).length>1?t:t[0]}var r=co.bind(Hn);function de(e){let t=new Set;return{get:()=>e,set(n){if(!Object.is(n,e)){e=n;for(let o of[...t])o(e)}},subscribe(n){return t.add(n),()=>t.delete(n)}}}function V(e){let[t,n]=$(e.get());return S(()=>(n(e.get()),e.subscribe(n)),[e]),t}function Ct(e,t){let n=t;try{n=localStorage.getItem(e)??t}catch{}let o=de(n);return o.subscribe(s=>{try{localStorage.setItem(e,s)}catch{}}),o}var Dt=()=>location.pathname+location.search,Qe=de(Dt()),uo=0;addEventListener("popstate",()=>Qe.set(Dt()));function me(e,{replace:t=!1}={}){e!==Dt()&&(t?history.replaceState(history.state,"",e):(uo++,history.pushState({depth:uo},"",e)),Qe.set(Dt()))}function po(){history.state?.depth>0?history.back():me("/")}document.addEventListener("click",e=>{if(e.defaultPrevented||e.button!==0||e.metaKey||e.ctrlKey||e.shiftKey||e.altKey)return;let t=e.target.closest?.("a[href]");!t||t.target||t.hasAttribute("download")||t.origin!==location.origin||t.pathname.startsWith("/v1/")||(e.preventDefault(),t.hash&&t.pathname===location.pathname?document.getElementById(t.hash.slice(1))?.focus():me(t.pathname+t.search))});function j(){let e=V(Qe);return[pe(()=>new URLSearchParams(e.split("?")[1]??""),[e]),(o,{replace:s=!0}={})=>{let a=new URLSearchParams(location.search);for(let[l,u]of Object.entries(o)){a.delete(l);for(let d of[u].flat())d&&a.append(l,d)}let i=a.toString();me(location.pathname+(i?`?${i}`:""),{replace:s})}]}function oe(e){S(()=>{document.title=e?`${e} · Gatekeeper`:"Gatekeeper"},[e])}function mo(e,t){for(let[n,o]of t){let s=n.exec(e);if(s)try{return[o,s.slice(1).map(decodeURIComponent)]}catch{return null}}return null}function ke(e,t,n=200){let[o,s]=$(e);return S(()=>s(e),[e]),S(()=>{if(o===e)return;let a=setTimeout(()=>t(o),n);return()=>clearTimeout(a)},[o]),[o,s]}var Re=de({online:!0}),Me=de(0),mt=null;function Rt(){Re.get().online||(clearTimeout(mt),mt=null,Re.set({online:!0}),Me.set(Me.get()+1))}function ft(e){let t=Re.get();Re.set({online:!1,since:t.since??Date.now(),message:e}),mt===null&&(mt=setTimeout(fo,1e3))}async function fo(){try{let e=await fetch("/v1/definitions?page_size=1",{signal:AbortSignal.timeout(1e4)});if(e.status<500)return Rt();let t=await e.json().catch(()=>null);t?.message&&Re.set({...Re.get(),message:t.message})}catch{}Re.get().online||(mt=setTimeout(fo,1e3))}var Le=class extends Error{constructor(t,n){super(n?.message||(t?`The server answered with status ${t}.`:"The server does not answer.")),this.name="APIError",this.status=t,this.code=n?.code??(t?"":"UNAVAILABLE"),this.reason=n?.reason??"",this.metadata=n?.metadata??{},this.fields=n?.fields??[],this.offline=t===0||t===502||t===503||t===504}};function ie(e,...t){return String.raw({raw:e},...t.map(n=>encodeURIComponent(n)))}function Ot(e={}){let t=new URLSearchParams;for(let[o,s]of Object.entries(e))for(let a of Array.isArray(s)?s:[s])a!=null&&a!==""&&a!==!1&&a!==0&&t.append(o,a);let n=t.toString();return n?`?${n}`:""}var ln=0n,ho=0,nt=()=>Date.now()+ho;function At(){let e=crypto.getRandomValues(new Uint8Array(16));return{request_id:`dashboard-${Array.from(e,n=>n.toString(16).padStart(2,"0")).join("")}`,request_revision:ln.toString()}}function Ur(e){try{let t=BigInt(e?.revision??0);t>ln&&(ln=t)}catch{}}async function Ye(e,t,{query:n,body:o,signal:s}={}){let a={method:e,signal:s,headers:{Accept:"application/json"}};o!==void 0&&(a.headers["Content-Type"]="application/json",a.body=JSON.stringify(o));let i,l=null;try{i=await fetch(t+Ot(n),a),l=await i.json().catch(()=>null)}catch(u){throw s?.aborted?u:(ft("The server does not answer."),new Le(0))}return It(i,l)}function It(e,t){let n=Date.parse(e.headers.get("Date")??"");if(n){let s=n-Date.now();ho=Math.abs(s)>2e3?s:0}if(e.ok)return Rt(),Ur(t),t??{};let o=new Le(e.status,t);throw o.offline?ft(o.message):Rt(),e.status===401&&Hr(),o}var T=(e,t,n)=>Ye("GET",e,{query:t,signal:n}),C=(e,t,n)=>Ye("POST",e,{body:t,signal:n});function Hr(){if(location.pathname==="/login")return;let e=location.pathname+location.search;history.replaceState(null,"",`/login${Ot({next:e==="/"?"":e})}`),dispatchEvent(new PopStateEvent("popstate"))}async function be(e,t,n,o,s=5e3){let a=[],i="";do{let l=await T(e,{page_size:1e3,...t,page_token:i},o);a.push(...l[n]??[]),i=l.next_page_token??""}while(i&&a.length<s);return{items:a,more:i!==""}}var Ee=de(null),Mt=Ct("author",""),fe=()=>Ee.get()?.authenticated?{}:{author:Mt.get()||"dashboard"};async function cn(){let e=await T("/session");Ee.set({authenticates:e.authenticated??!1,...e}),Nt.clear()}async function $o(e){await Ye("POST","/session",{body:{token:e}}),await cn()}async function go(){await Ye("DELETE","/session"),Ee.set(null)}var Nt=new Map;function Wr(e){let t=JSON.stringify(e),n=Nt.get(t);return(!n||n.at<Date.now()-6e4)&&(n={at:Date.now(),answer:C("/v1/can-i",e)},n.answer.catch(()=>Nt.delete(t)),Nt.set(t,n)),n.answer}var Br={ROLE_OPERATOR:"It needs the role operator there.",ROLE_EDITOR:"It needs the role editor there.",ROLE_ADMIN:"It needs the role admin.",ROLE_ACQUIRER:"It needs the role acquirer there."};function _o(e,t="",n="",o=""){let s=V(Ee),[a,i]=$("");return S(()=>{if(!e||!s?.authenticated)return i("");let l=!1;return Wr({role:e,semaphore:t,group:n,acquirer:o}).then(u=>l||i(u.allowed?"":`You may not: ${u.reason}. ${Br[e]} An administrator can grant it.`),()=>l||i("")),()=>l=!0},[e,t,n,o,s]),a}var b=e=>Number(e??0).toLocaleString("en"),D=(e,t,n)=>`${b(e)} ${Number(e)===1?t:n}`,N=e=>e?Math.round(parseFloat(e)*1e3):0;function ye(e){if(!e)return"0s";if(e<0)return`-${ye(-e)}`;let t="";for(let[n,o]of[["h",36e5],["m",6e4]]){let s=Math.floor(e/o);s&&(t+=s+n),e-=s*o}return e>=1e3||e&&t?t+=`${+(e/1e3).toFixed(3)}s`:e&&(t+=`${+e.toFixed(3)}ms`),t}function X(e){return e<0?"0s":e<1e4?ye(Math.round(e/100)*100):e<36e5?ye(Math.round(e/1e3)*1e3):e<48*36e5?ye(Math.round(e/6e4)*6e4):`${Math.floor(e/864e5)}d`}var ot=e=>X(Math.max(0,Math.round(e/1e3))*1e3),Kr={ms:1,s:1e3,m:6e4,h:36e5,d:864e5};function Te(e){if(e=e.trim(),e==="")return;if(e==="0")return"0s";let t=0;if(e.replace(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g,(o,s,a)=>(t+=parseFloat(s)*Kr[a],""))!=="")throw new Error(`“${e}” is not a duration. Write it as 90s, 5m, 1h30m or 2d.`);return`${+(t/1e3).toFixed(3)}s`}var Xe=e=>e==null?"":ye(N(e));var ht=e=>String(e).padStart(2,"0");function L(e){if(!e)return"";let t=new Date(e);return`${`${t.getFullYear()}-${ht(t.getMonth()+1)}-${ht(t.getDate())}`} ${Lt(t)}`}var Lt=e=>`${ht(e.getHours())}:${ht(e.getMinutes())}:${ht(e.getSeconds())}`;function rt(e){if(!e)return"";let t=new Date(e);return t.toDateString()===new Date(nt()).toDateString()?Lt(t):L(e)}function we(e){if(e=Number(e??0),e<1024)return`${e} B`;let t=-1;do e/=1024,t++;while(e>=1024&&t<3);return`${e<10?e.toFixed(1):Math.round(e)} ${["KiB","MiB","GiB","TiB"][t]}`}function Pe(e,t=3){let n=e.length-t;return e.slice(0,t).join(", ")+(n>0?` and ${b(n)} more`:"")}function un(e){if(!e)return"";let t=Uint8Array.from(atob(e),n=>n.charCodeAt(0));try{return new TextDecoder("utf-8",{fatal:!0}).decode(t)}catch{return Array.from(t,n=>n.toString(16).padStart(2,"0")).join(" ")}}var zr=4e4,Vr=5e3;function bo(e,t,n){let o=!1,s=0,a=!1,i="",l=null,u=null,d=()=>{clearTimeout(u),l?.abort(),l=null},c=()=>{o=!0,d(),document.removeEventListener("visibilitychange",h)},h=()=>{document.hidden?d():l||p()},m=f=>{if(f.id&&(i=f.id),!f.data)return;let v=JSON.parse(f.data);if(f.type==="end")c(),n.end?.();else if(f.type==="error"){let g=new Le(v.status??500,v);vo(v.code)||(c(),n.error?.(g))}else n[f.type]?.(v,f.id)};async function p(){clearTimeout(u);let f=l=new AbortController,v=null,g=()=>{clearTimeout(v),v=setTimeout(()=>f.abort(),zr)};try{g();let x={Accept:"text/event-stream"};i&&(x["Last-Event-ID"]=i);let y=await fetch(e+Ot(t),{headers:x,signal:f.signal});if(!y.ok||!y.headers.get("Content-Type")?.startsWith("text/event-stream"))throw It(y,await y.json().catch(()=>null)),new Le(500,{message:"The answer is not a stream of events."});s=0,It(y,{}),n.open?.(a),a=!0,await Jr(y.body,I=>!o&&m(I),g)}catch(x){x instanceof Le?!x.offline&&!vo(x.code)&&x.status!==401?(c(),n.error?.(x)):x.status===401&&c():f.signal.aborted||ft("The connection to the server broke.")}finally{clearTimeout(v)}o||l!==f||(l=null,!document.hidden&&(s++,u=setTimeout(p,Math.min(Vr,500*s)*(.75+Math.random()/2))))}return document.addEventListener("visibilitychange",h),document.hidden||p(),c}var vo=e=>["UNAVAILABLE","ABORTED","CANCELLED","DEADLINE_EXCEEDED","RESOURCE_EXHAUSTED","UNKNOWN"].includes(e);async function Jr(e,t,n){let o=e.pipeThrough(new TextDecoderStream).getReader(),s="",a={type:"message",id:"",data:""};for(;;){let{value:i,done:l}=await o.read();if(l)return;n();let u=(s+i).split(`
`);s=u.pop();for(let d of u){if(d.endsWith("\r")&&(d=d.slice(0,-1)),d===""){t(a),a={type:"message",id:"",data:""};continue}let c=d.indexOf(":");if(c<=0)continue;let h=d.slice(c+1).replace(/^ /,"");switch(d.slice(0,c)){case"event":a.type=h;break;case"id":a.id=h;break;case"data":a.data+=h}}}}function E(e,t,{every:n=0,keep:o=!1}={}){let[s,a]=$({}),[i,l]=$(0),u=V(Me),d=JSON.stringify(t),c=Q(e);c.current=e,S(()=>{if(e===null)return;let p=new AbortController;return c.current(p.signal).then(f=>p.signal.aborted||a({data:f,key:d}),f=>p.signal.aborted||a(v=>({...v,error:f,failed:d}))),()=>p.abort()},[d,i,u,e===null]),S(()=>{if(!n)return;let p=setInterval(()=>document.hidden||l(f=>f+1),n);return()=>clearInterval(p)},[n]);let h=s.key===d,m=s.failed===d?s.error:void 0;return{data:h||o?s.data:void 0,error:m,loading:!h&&!m,refresh:()=>l(p=>p+1),set:p=>a(f=>({...f,data:p(f.data)}))}}function Se(e,t,n){let o=Q(n);o.current=n;let s=JSON.stringify([e,t]);S(()=>{if(!e)return;let a=i=>(...l)=>o.current[i]?.(...l);return bo(e,t,{message:a("message"),live:a("live"),missed:a("missed"),open:a("open"),error:a("error"),end:a("end")})},[s])}var pn=de(0),yo=null,wo=0;function Oe(){return S(()=>(wo++===0&&(yo=setInterval(()=>document.hidden||pn.set(pn.get()+1),1e3)),()=>{--wo===0&&clearInterval(yo)}),[]),V(pn)}function Ae(e,t){let n=Q(e);n.current=e;let o=Q(null);return S(()=>()=>clearTimeout(o.current),[]),()=>{o.current===null&&(o.current=setTimeout(()=>{o.current=null,n.current()},t))}}function Pt(e){let[t,n]=$(()=>matchMedia(e).matches);return S(()=>{let o=matchMedia(e),s=()=>n(o.matches);return o.addEventListener("change",s),()=>o.removeEventListener("change",s)},[e]),t}function he({what:e="Reading"}){return r`<p class="loading" role="status"><span class="dots" aria-hidden="true"></span>${e} …</p>`}function R({title:e,children:t}){return r`<div class="empty"><p class="empty-title">${e}</p>${t&&r`<p>${t}</p>`}</div>`}var ko={PERMISSION_DENIED:"An administrator can grant you the role.",UNAUTHENTICATED:"Log in again."};function H({error:e,retry:t}){if(!e)return null;let n=e.fields??[];return r`<div class="failure" role="alert">
    <p class="failure-text">${Eo(e.message)}</p>
    ${ko[e.code]&&r`<p>${ko[e.code]}</p>`}
    ${n.length>0&&r`<ul>${n.map(o=>r`<li><code>${o.field}</code>: ${o.rule}</li>`)}</ul>`}
    ${e.offline&&r`<p>Whether a change was made is then not known. The activity page shows it. The same button again does nothing twice.</p>`}
    <p class="row">
      ${t&&r`<button type="button" onClick=${t}>Try again</button>`}
      ${(e.reason||e.code)&&r`<span class="faint">${e.reason||e.code}</span>`}
    </p>
  </div>`}var Eo=(e="")=>{let t=e.charAt(0).toUpperCase()+e.slice(1);return/[.!?…]$/.test(t)?t:`${t}.`};function W({of:e,what:t,children:n}){return e.data===void 0?e.error&&!e.error.offline?r`<${H} error=${e.error} retry=${e.refresh} />`:r`<${he} what=${t} />`:r`${e.error&&!e.error.offline&&r`<${H} error=${e.error} retry=${e.refresh} />`}${n(e.data)}`}function xo(){let e=V(Re);return Oe(),e.online?r`<div role="status" class="sr-only"></div>`:r`<div class="offline" role="status">
    <strong>${Eo(e.message)}</strong>
    <span> What is shown is as of ${Lt(new Date(e.since))}. This page asks again every second, and recovers without you.</span>
  </div>`}var $t=de([]),Gr=0;function _e(e,{tone:t="run",action:n}={}){$t.set([...$t.get().slice(-2),{id:++Gr,text:e,tone:t,action:n}])}var dn=e=>$t.set($t.get().filter(t=>t.id!==e));function Qr({id:e,text:t,tone:n,action:o}){return S(()=>{let s=setTimeout(()=>dn(e),o?3e4:12e3);return()=>clearTimeout(s)},[e]),r`<div class="notice tone-${n}">
    <span>${t}</span>
    ${o&&r`<button type="button" onClick=${()=>(dn(e),o.run())}>${o.text}</button>`}
    <button type="button" class="plain" aria-label="Dismiss" onClick=${()=>dn(e)}>×</button>
  </div>`}function To(){let e=V($t);return r`<div class="notices" role="status">${e.map(t=>r`<${Qr} key=${t.id} ...${t} />`)}</div>`}function q({role:e,semaphore:t,group:n,acquirer:o,why:s,kind:a="",children:i,onClick:l,type:u="button",...d}){let c=_o(e,t,n,o),h=dt(),m=c||s;return r`<span class="action">
    <button
      type=${m?"button":u}
      class=${a}
      aria-disabled=${m?"true":void 0}
      aria-describedby=${m?h:void 0}
      onClick=${m?void 0:l}
      ...${d}
    >${i}</button>
    ${m&&r`<span class="why" role="tooltip" id=${h}>${m}</span>`}
  </span>`}function ue({title:e,onClose:t,wide:n,children:o}){let s=Q(null),a=dt();return pt(()=>{let i=document.activeElement,l=s.current;return l.showModal(),()=>{l.close(),i?.isConnected&&i.focus()}},[]),r`<dialog
    ref=${s}
    class=${n?"wide":""}
    aria-labelledby=${a}
    onCancel=${i=>(i.preventDefault(),t())}
    onMouseDown=${i=>i.target===s.current&&t()}
  >
    <div class="dialog-body">
      <header class="dialog-head">
        <h2 id=${a}>${e}</h2>
        <button type="button" class="plain" aria-label="Close" onClick=${t}>×</button>
      </header>
      ${o}
    </div>
  </dialog>`}function So({label:e,help:t,error:n,children:o,class:s=""}){let a=dt(),i=[t&&`${a}-help`,n&&`${a}-error`].filter(Boolean).join(" ")||void 0;return r`<div class="field ${s}">
    <label for=${a}>${e}</label>
    ${o({id:a,"aria-describedby":i,"aria-invalid":n?"true":void 0})}
    ${t&&r`<p class="help" id="${a}-help">${t}</p>`}
    ${n&&r`<p class="error" id="${a}-error" role="alert">${n}</p>`}
  </div>`}function P({label:e,help:t,error:n,value:o,onInput:s,area:a,class:i,...l}){return r`<${So} label=${e} help=${t} error=${n} class=${i}>
    ${u=>a?r`<textarea rows=${a} value=${o} onInput=${d=>s(d.target.value)} ...${u} ...${l}></textarea>`:r`<input value=${o} onInput=${d=>s(d.target.value)} autocomplete="off" spellcheck=${!1} ...${u} ...${l} />`}
  <//>`}function xe({label:e,help:t,value:n,options:o,onChange:s,class:a}){return r`<${So} label=${e} help=${t} class=${a}>
    ${i=>r`<select value=${n} onChange=${l=>s(l.target.value)} ...${i}>
      ${o.map(([l,u])=>r`<option value=${l} selected=${l===n}>${u}</option>`)}
    </select>`}
  <//>`}function le({label:e,help:t,checked:n,onChange:o}){let s=dt();return r`<div class="check">
    <input type="checkbox" id=${s} checked=${n} aria-describedby=${t?`${s}-help`:void 0} onChange=${a=>o(a.target.checked)} />
    <label for=${s}>${e}</label>
    ${t&&r`<span class="help" id="${s}-help">${t}</span>`}
  </div>`}function st({of:e,query:t="tab",label:n}){let[o]=j(),s=o.get(t)??e[0][0],a=i=>{let l=new URLSearchParams(o);i===e[0][0]?l.delete(t):l.set(t,i);let u=l.toString();return location.pathname+(u?`?${u}`:"")};return r`<nav class="tabs" aria-label=${n}>
    ${e.map(([i,l])=>r`<a href=${a(i)} aria-current=${i===s?"page":void 0}>${l}</a>`)}
  </nav>`}function Co(e){let t=Q(e);t.current=e,S(()=>{let n=o=>{if(o.defaultPrevented||o.ctrlKey||o.metaKey||o.altKey||document.querySelector("dialog[open]"))return;let s=/^(INPUT|TEXTAREA|SELECT)$/.test(o.target.tagName);s&&o.key!=="Escape"||t.current[o.key]?.(o,s)};return addEventListener("keydown",n),()=>removeEventListener("keydown",n)},[])}function A(e,t){return!e||e===`${t}UNSPECIFIED`?"":e.slice(t.length).toLowerCase().replaceAll("_"," ")}var Ft=[{value:"DEFINITION_STATE_DISABLED",word:"disabled",tone:"deny",help:"A pattern cannot be used: nobody is let in."},{value:"DEFINITION_STATE_DENIED",word:"denied",tone:"deny",help:"Callers are denied, and nobody gets a permit, until somebody acts."},{value:"DEFINITION_STATE_HELD",word:"held for an operator",tone:"stop",help:"A slot is held until an operator clears it."},{value:"DEFINITION_STATE_MISSED",word:"missed",tone:"stop",help:"Expected work is missed: it is silent."},{value:"DEFINITION_STATE_STOPPING",word:"stopping",tone:"stop",help:"A holder must stop."},{value:"DEFINITION_STATE_PAUSED",word:"paused",tone:"pause",help:"Nobody is let in until the pause ends."},{value:"DEFINITION_STATE_WAITING",word:"waiting",tone:"wait",help:"Somebody waits in the queue."},{value:"DEFINITION_STATE_RUNNING",word:"running",tone:"run",help:"Somebody holds a permit."},{value:"DEFINITION_STATE_IDLE",word:"idle",tone:"idle",help:"Nothing takes a slot."}],Yr={value:"",word:"unknown",tone:"idle",help:""},Do=e=>Ft.find(t=>t.value===e)??Yr,gt=e=>Ft.filter(t=>e.states?.includes(t.value));function Ro(e){let t=gt(e)[0];return e.pause&&t?.word==="paused"?e.pause.until?`paused until ${rt(e.pause.until)}`:"paused":t?.word??"unknown"}function jt(e){let t=[];e.disabled&&t.push(`Disabled: ${e.disabled}`),e.pause&&t.push(Xr(e.pause)),e.missed&&t.push(Zr(e.missed));for(let n of e.ends??[])t.push(`${n.fields.join(", ")}: as it is until ${L(n.until)}, then its value of before.`);return[...t,...e.warnings??[]]}function Xr(e){let t=e.until?`Paused until ${L(e.until)}`:"Paused until it is resumed";return e.reason&&(t+=`: ${e.reason}`),e.stop&&(t+=e.drain?`. Holders must stop within ${X(N(e.drain))}`:". Holders must stop"),`${t}. By ${e.author||"somebody"}.`}function Zr(e){let t=A(e.kind,"MISSED_KIND_");return e.text||`Missed: ${t}${e.reason?` (${A(e.reason,"REASON_")})`:""}`}var F=e=>`${e?.acquirer??""} in ${e?.group||"default"}`;function Oo(e){let t=A(e.state,"PERMIT_STATE_")||"live";t==="held"&&(t="held for an operator"),e.drain_left&&(t+=`, draining for ${X(N(e.drain_left))}`);let n=A(e.stop,"STOP_CAUSE_");return n&&(t+=`, stopping: ${n}${e.stop_reason?` (${e.stop_reason})`:""}`),t}var Ao=e=>e.state==="PERMIT_STATE_HELD"||e.stop?"stop":e.state==="PERMIT_STATE_COOLING"?"idle":"run";function je(e){return e?e.due?`${e.name}@${e.due.replace(/\.000Z$/,"Z")}`:e.name:""}var $e=[{name:"description",kind:"text",label:"Description",help:"Free text for people."},{name:"labels",kind:"labels",label:"Labels",help:"One key=value per line. Commands and filters select by them."},{name:"group_pattern",kind:"pattern",label:"Group pattern",help:"A regular expression (RE2) that the whole group must match."},{name:"acquirer_pattern",kind:"pattern",label:"Acquirer pattern",help:"The same for the acquirer, normally a host."},{name:"permits",kind:"number",label:"Permits",help:"How much weight may be held at once. 0 lets nobody in."},{name:"duration",kind:"duration",label:"Duration",help:"How long a permit lives without a refresh. It bounds how long a dead holder keeps its slot."},{name:"max_hold",kind:"duration",label:"Max hold",help:"A job that holds longer must stop. Empty: no limit."},{name:"min_hold",kind:"duration",label:"Min hold",help:"The slot stays taken at least this long after a grant."},{name:"loss_delay",kind:"duration",label:"Loss delay",help:"After a lost holder the slot stays taken this much longer."},{name:"on_expiry",kind:"choice",prefix:"ON_EXPIRY_",values:["FREE","HOLD"],label:"On expiry",help:"What becomes of the slot of a permit that expired. hold: until an operator clears it."},{name:"takeover",kind:"flag",label:"Takeover",help:"Callers may take over from a holder that they judge dead."},{name:"expect_every",kind:"duration",label:"Expect every",help:"How often this work is expected to ask. Empty: nothing is expected."},{name:"firing_on_loss",kind:"choice",prefix:"FIRING_ON_LOSS_",values:["SPENT","FREE"],label:"Firing on loss",help:"What becomes of a firing whose permit was lost. free: it may be claimed again."},{name:"firing_retention",kind:"duration",label:"Firing retention",help:"How long a firing is remembered after its due time."},{name:"firing_limit",kind:"number",label:"Firing limit",help:"How many firings are remembered at most."},{name:"firing_max_ahead",kind:"duration",label:"Firing max ahead",help:"How far ahead of the leader’s clock a firing may be due. 0: any."},{name:"max_attempts",kind:"number",label:"Max attempts",help:"How many holders may attempt a firing. 0: any number."},{name:"misfire",kind:"choice",prefix:"MISFIRE_",values:["SKIP","ONCE","EACH"],label:"Misfire",help:"What becomes of firings that nobody claimed when they were due."},{name:"misfire_window",kind:"duration",label:"Misfire window",help:"How long ago such a firing may have been due."}];function Fe(e,t){let n=t?.[e.name];switch(e.kind){case"labels":return Object.keys(n??{}).sort().map(o=>n[o]===""?o:`${o}=${n[o]}`).join(", ");case"duration":return Xe(n);case"choice":return A(n,e.prefix)||e.values[0].toLowerCase();case"flag":return n?"yes":"no";case"number":return String(n??0)}return n??""}function mn(e,t){return $e.map(n=>({field:n,before:Fe(n,e),after:Fe(n,t)})).filter(n=>n.before!==n.after)}var fn=(e=[],t=e.length,n=2)=>{let o=e.slice(0,n).map(a=>`${a.acquirer} in ${a.group}`),s=t-o.length;return o.join(", ")+(s>0?` and ${b(s)} more`:"")};function Io(e=[]){let t=e.flatMap(a=>a.stopped??[]);if(t.length===0)return"No holder must stop.";let n=t.filter(a=>a.drain_left).length,o=[];t.length>n&&o.push(`${D(t.length-n,"holder","holders")} must stop`),n&&o.push(`the ${n===1?"drain of 1 holder is":`drains of ${n} holders are`} cut short`);let s=`${o.join(", ")}; every slot is free within ${X(Math.max(...t.map(a=>N(a.free_within))))}.`;return s[0].toUpperCase()+s.slice(1)}function No(e=[],t=[]){let n=new Map;for(let o of e)for(let s of o.warnings??[])n.set(s,[...n.get(s)??[],o.semaphore]);return[...t,...[...n].map(([o,s])=>`${Pe(s)}: ${o}`)]}var es=e=>`${e.length===1?"change":"changes"} ${Pe(e,5)}`;function hn(e){let t=[];return e.group_pattern&&t.push(`group ${e.group_pattern}`),e.acquirer_pattern&&t.push(`acquirer ${e.acquirer_pattern}`),e.until&&t.push(`until ${L(e.until)}`),t.join(", ")}function Mo(e){let t=[],n=A(e.kind,"EVENT_KIND_");e.until&&n!=="resumed"&&t.push(`until ${L(e.until)}`);let o=e.pause;if(o&&n!=="resumed"&&((n==="created"||n==="deleted")&&t.push("while paused"),o.until&&t.push(`until ${L(o.until)}`),o.stop&&t.push(o.drain?`holders must stop within ${X(N(o.drain))}`:"holders must stop")),e.pause_before&&t.push(`instead of the pause of change ${e.pause_before.change}`),e.cordon&&t.push(`“${e.cordon.id}”, ${hn(e.cordon)}`),e.cordon_before&&t.push(`instead of that of change ${e.cordon_before.change}`),e.firings?.firings?.length){let a=e.firings.firings.map(l=>je(l.firing)),i=n==="firings remembered"?"remembered again":"forgotten";t.push(`${D(a.length,"firing","firings")} ${i} (${Pe(a)})`)}(e.binding_before||e.binding_after)&&t.push(`binding ${(e.binding_after??e.binding_before).name}`),e.undoes&&e.undoes!=="0"&&t.push(`undoes ${es([e.undoes,...e.also_undoes??[]])}`),e.permit&&t.push(`${F(e.permit.identity)}, token ${e.permit.token}`);let s=A(e.missed,"MISSED_KIND_");return s&&t.push(s),e.drain&&t.push(`drain ${X(N(e.drain))}`),[...new Set(t)].join("; ")}var ts={created:"run",replaced:"accent",deleted:"deny",paused:"pause",resumed:"run",cordoned:"deny",uncordoned:"run",granted:"run",released:"idle",expired:"stop",held:"stop",cleared:"run",stopping:"stop",missed:"stop",heard:"run","freed unsafely":"deny"},Lo=e=>ts[A(e,"EVENT_KIND_")]??"idle",Po=e=>["CREATED","REPLACED","DELETED","PAUSED","RESUMED","CORDONED","UNCORDONED","FIRINGS_FORGOTTEN","FIRINGS_REMEMBERED"].includes(e.kind?.slice(11));function $n(e){let t=A(e.role,"ROLE_");return e.semaphores?.length&&(t+=` on ${e.semaphores.join(", ")}`),e.labels&&(t+=` where ${e.labels}`),e.group&&(t+=` in group ${e.group}`),e.acquirer&&(t+=` as acquirer ${e.acquirer}`),t}function K({caption:e,columns:t,rows:n,rowKey:o,empty:s,note:a}){return n?.length?r`<div class="table-wrap">
    <table>
      <caption class="sr-only">${e}</caption>
      <thead><tr>${t.map(([i,,l])=>r`<th scope="col" class=${l}>${i}</th>`)}</tr></thead>
      <tbody>
        ${n.map((i,l)=>r`<tr key=${o?o(i):l}>
          ${t.map(([u,d,c],h)=>h===0?r`<th scope="row" class=${c} data-label=${u}>${d(i)}</th>`:r`<td class=${c} data-label=${u}>${d(i)}</td>`)}
        </tr>`)}
      </tbody>
    </table>
    ${a&&r`<p class="faint">${a}</p>`}
  </div>`:s??r`<${R} title="Nothing here." />`}function Ce({of:e}){return r`<dl class="facts">
    ${e.filter(([,t])=>t!=null&&t!=="").map(([t,n])=>r`<div><dt>${t}</dt><dd>${n}</dd></div>`)}
  </dl>`}function ve({share:e,tone:t="accent",label:n}){let o=Math.max(0,Math.min(1,e||0));return r`<span class="bar tone-${t}" role="img" aria-label=${n}>
    <span class="bar-fill" style=${{transform:`scaleX(${o.toFixed(4)})`}}></span>
  </span>`}function qt({at:e,of:t,what:n="expires unless it is refreshed"}){if(Oe(),!e)return r`<span class="faint">–</span>`;let o=Math.max(0,e-Date.now()),s=t&&o/t<.34;return r`<span class="deadline" title=${n}>
    ${t>0&&r`<${ve} share=${o/t} tone=${s?"wait":"run"} label="${ot(o)} left" />`}
    <span class="num">${ot(o)}</span>
  </span>`}function ce({at:e}){return Oe(),e?r`<time class="num" datetime=${e} title=${new Date(e).toLocaleString()}>${ot(nt()-Date.parse(e))}</time>`:"–"}function Fo({parts:e,total:t,label:n}){let o=0;return r`<svg class="segments" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label=${n}>
    <rect class="track" x="0" y="0" width="1000" height="10" />
    ${e.filter(([s])=>s>0).map(([s,a])=>{let i=t?1e3*s/t:0,l=r`<rect class="fill-${a}" x=${o} y="0" width=${i} height="10" />`;return o+=i,l})}
  </svg>`}var qe=50;function gn({before:e,after:t}){if(!e&&!t)return null;if(!e)return r`<span>created</span>`;if(!t)return r`<span>deleted</span>`;let n=mn(e,t);return n.length===0?r`<span class="faint">–</span>`:r`<ul class="changes">
    ${n.map(o=>r`<li>
        <span class="change-name">${o.field.name}</span>
        <del>${o.before||"(none)"}</del><span class="sr-only"> becomes </span><ins>${o.after||"(none)"}</ins>
      </li>`)}
  </ul>`}function ns({effects:e}){let t=e.flatMap(n=>n.stopped??[]);return t.length===0?null:r`<section>
    <h3>Must stop</h3>
    <${K}
      caption="Holders that must stop"
      rows=${t.slice(0,qe)}
      rowKey=${n=>n.permit.token}
      columns=${[["Semaphore",n=>n.permit.semaphore,"name"],["Holder",n=>F(n.permit.identity),"name"],["Token",n=>n.permit.token,"num"],["Since",n=>r`<${ce} at=${n.permit.granted_at} />`,"num"],["Free within",n=>X(N(n.free_within))+(n.drain_left?` (its drain had ${X(N(n.drain_left))} left)`:""),"num"]]}
      note=${t.length>qe&&`and ${b(t.length-qe)} more`}
    />
  </section>`}function jo({of:e}){let t=e.effects??[],n=t.filter(i=>i.total_admitted||i.total_shut_out||!i.before!=!i.after||mn(i.before,i.after).length),o=No(t,e.warnings),s=t.flatMap(i=>i.held??[]),a=t.filter(i=>Number(i.waiting_tasks));return r`<div class="effects">
    <p class="lead">${Io(t)}</p>
    ${e.confirm?.length>0&&r`<ul class="confirm">${e.confirm.map(i=>r`<li>${i.text}</li>`)}</ul>`}
    ${o.length>0&&r`<ul class="warnings">${o.slice(0,20).map(i=>r`<li>${i}</li>`)}</ul>`}
    ${n.length>0&&r`<section>
      <h3>${D(n.length,"semaphore changes","semaphores change")}</h3>
      <${K}
        caption="Semaphores that change"
        rows=${n.slice(0,qe)}
        rowKey=${i=>i.semaphore}
        columns=${[["Semaphore",i=>i.semaphore,"name"],["Changes",i=>r`<${gn} before=${i.before} after=${i.after} />`],["Lets in",i=>fn(i.admitted,i.total_admitted??0)||"–"],["Shuts out",i=>fn(i.shut_out,i.total_shut_out??0)||"–"],["Stops",i=>b(i.stopped?.length),"num"],["Continue",i=>b(i.unaffected),"num"]]}
        note=${n.length>qe&&`and ${b(n.length-qe)} more`}
      />
    </section>`}
    <${ns} effects=${t} />
    ${s.length>0&&r`<section><h3>Held for an operator</h3>
      <ul>${s.slice(0,qe).map(i=>r`<li>${i.semaphore}: the permit of ${F(i.identity)} (token ${i.token}) expired. Its slot stays taken until it is cleared.</li>`)}</ul>
    </section>`}
    ${a.length>0&&r`<ul>${a.slice(0,qe).map(i=>r`<li>${i.semaphore}: ${D(i.waiting_tasks,"task waits","tasks wait")} for a worker${i.tasks_run?`; after this change, ${i.tasks_run}`:""}.</li>`)}</ul>`}
  </div>`}function ge(e){let{title:t,verb:n,kind:o,preview:s,run:a,done:i,onClose:l,onDone:u,onError:d,role:c,semaphore:h,nothing:m,deps:p,extra:f,children:v}=e,[g,x]=$(0),y=E(s,[t,g,p],{keep:!0}),I=y.loading||y.error,[M,k]=$(""),[J,ae]=$(!1),[re,se]=$(null),G=Q(null),Y=y.data&&m?.(y.data);S(()=>{y.error&&d?.(y.error)&&l()},[y.error]),S(()=>{G.current=null},[JSON.stringify(p)]);let w=()=>{G.current=null,se(null),x(g+1)};async function _(U){if(U.preventDefault(),!(J||I||Y)){ae(!0),se(null),G.current??=At();try{let O=await a({reason:M,...fe(),...G.current},y.data),z=O.revision??O.change,ne=z&&z!=="0"?{text:"Undo",run:()=>Ze(z)}:void 0;_e(i(O),{action:ne}),u?.(O,y.data),l()}catch(O){O.code!=="UNAVAILABLE"&&(G.current=null),se(O),ae(!1),d?.(O)&&l()}}}return r`<${ue} title=${t} onClose=${l} wide>
    <form onSubmit=${_}>
      ${v}
      <${W} of=${y} what="Asking what this would do">
        ${U=>r`${f?.(U)}<${jo} of=${U} />${U.notes?.length>0&&r`<ul>${U.notes.map(O=>r`<li>${O}</li>`)}</ul>`}
        ${Y&&r`<p class="lead">${Y}</p>`}`}
      <//>
      <${P} label="Reason" help="For the journal: why you do this." value=${M} onInput=${k} maxlength="1024" />
      ${re&&r`<${H} error=${re} retry=${/CHANGED_SINCE|STALE|CONFLICT/.test(re.reason)?w:void 0} />`}
      <p class="row end">
        <button type="button" onClick=${l}>Cancel</button>
        <${q} role=${c} semaphore=${h} type="submit" kind=${o??"primary"} why=${I?"There is no preview yet.":Y}>
          ${J?"Working …":typeof n=="function"?n(y.data??{}):n}
        <//>
      </p>
    </form>
  <//>`}var _n=de(null);function Ze(e,t){_n.set({change:String(e),onDone:t})}function qo(){let e=V(_n);return e?r`<${ge}
    key=${e.change}
    title=${`Undo change ${e.change}`}
    verb="Undo it"
    preview=${()=>C("/v1/undo",{change:e.change,dry_run:!0,...fe()})}
    nothing=${t=>t.undone_by&&t.undone_by!=="0"?`It was undone already, by change ${t.undone_by}.`:t.nothing?"Nothing is left to undo.":""}
    run=${(t,n)=>C("/v1/undo",{change:e.change,plan:n.plan,...t})}
    done=${()=>`Change ${e.change} is undone.`}
    onDone=${e.onDone}
    onClose=${()=>_n.set(null)}
  />`:null}var os=[["/","Overview"],["/move","Move and pause"],["/activity","Activity"],["/jobs","Jobs"],["/cluster","Cluster"],["/access","Access"]],vn=Ct("theme","auto");vn.subscribe(e=>{e==="auto"?delete document.documentElement.dataset.theme:document.documentElement.dataset.theme=e});function rs(){let e=V(vn),t={auto:"light",light:"dark",dark:"auto"}[e];return r`<button type="button" class="plain" onClick=${()=>vn.set(t)} title="Theme: ${e}. Click for ${t}.">
    <svg class="glyph" viewBox="0 0 16 16" aria-hidden="true">
      <circle cx="8" cy="8" r="6" /><path class="solid" d=${e==="auto"?"M8 2a6 6 0 0 1 0 12z":e==="dark"?"M8 2a6 6 0 0 1 0 12 6 6 0 0 1 0-12z":"M8 8z"} />
    </svg>
    <span class="sr-only">Theme: ${e}. Change to ${t}</span>
  </button>`}var ss=[["/","Search"],["↑ ↓","Move in a list; Home, End, Page Up and Page Down too"],["Enter","Open"],["Esc","Leave a field, close a dialog, or go back"],["g then o, m, a, j, c","Overview, Move and pause, Activity, Jobs, Cluster"],["?","These keys"]];function as({onClose:e}){return r`<${ue} title="Keys" onClose=${e}>
    <dl class="keys">${ss.map(([t,n])=>r`<div><dt><kbd>${t}</kbd></dt><dd>${n}</dd></div>`)}</dl>
  <//>`}function is(){let e=V(Ee),t=V(Mt),[n,o]=$(!1);if(!e)return null;let s=e.authenticated?e.principal||e.credential:t||"dashboard";return r`<button type="button" class="plain who" onClick=${()=>o(!0)}><span class="sr-only">You are </span>${s}</button>
    ${n&&r`<${ue} title="You" onClose=${()=>o(!1)}>
      ${e.authenticated?r`<p>The servers see you as <strong>${e.principal}</strong>, by ${e.credential}. <a href="/access">What you may do</a></p>
            <p class="row end"><button type="button" onClick=${()=>go().catch(()=>{}).then(()=>me("/login"))}>Log out</button></p>`:r`<p>These servers do not authenticate callers: everybody may do everything.</p>
            <${P} label="Your name" help="The journal shows it as the author of your changes. Nobody checks it." value=${t} onInput=${a=>Mt.set(a)} maxlength="256" />
            <p class="row end"><button type="button" class="primary" onClick=${()=>o(!1)}>Done</button></p>`}
    <//>`}`}function ls(){let t=E(n=>T("/v1/status",{},n),["status"],{every:1e4,keep:!0}).data;return t?r`<a class="leader" href="/cluster">
    ${t.leader_id?r`<span class="lamp tone-run" aria-hidden="true"></span><span>${t.leader_id}<span class="long"> leads</span></span>`:r`<span class="lamp tone-deny" aria-hidden="true"></span>no leader`}
  </a>`:r`<a class="leader" href="/cluster"><span class="sr-only">Cluster: </span>…</a>`}var cs={o:"/",m:"/move",a:"/activity",j:"/jobs",c:"/cluster"};function Ut({children:e,bare:t}){let n=V(Qe).split("?")[0],[o,s]=$(!1),a=Q(null),i=Q(!0),l=Q(0);return S(()=>{if(i.current){i.current=!1;return}scrollTo(0,0),a.current?.querySelector("h1")?.focus()},[n]),Co({"?":()=>s(!0),"/":u=>{let d=document.querySelector("[data-search]");d&&(u.preventDefault(),d.focus(),d.select())},Escape:(u,d)=>{d?u.target.blur():n!=="/"&&po()},g:()=>l.current=Date.now(),...Object.fromEntries(Object.entries(cs).map(([u,d])=>[u,()=>Date.now()-l.current<1500&&document.querySelector(`.nav a[href="${d}"]`)?.click()]))}),r`<a class="skip" href="#main">Skip to the content</a>
    ${!t&&r`<header class="top">
      <a class="brand" href="/"><img src="/assets/icon.svg" alt="" width="24" height="24" /><span>Gatekeeper</span></a>
      <nav class="nav" aria-label="Views">
        ${os.map(([u,d])=>{let c=u==="/"?n==="/"||n.startsWith("/s/"):n===u||n.startsWith(`${u}/`);return r`<a href=${u} aria-current=${c?"page":void 0}>${d}</a>`})}
      </nav>
      <div class="tools">
        <${ls} />
        <${is} />
        <${rs} />
        <button type="button" class="plain" onClick=${()=>s(!0)} title="Keys"><span aria-hidden="true">?</span><span class="sr-only">Keys</span></button>
      </div>
    </header>`}
    <${xo} />
    <main id="main" tabindex="-1" ref=${a}>${e}</main>
    <${To} />
    <${qo} />
    ${o&&r`<${as} onClose=${()=>s(!1)} />`}`}function Z({children:e,aside:t}){return r`<div class="title"><h1 tabindex="-1">${e}</h1>${t&&r`<div class="row">${t}</div>`}</div>`}var Uo=[["viewer","–","see definitions, permits, queues, history, jobs and status"],["acquirer","viewer","acquire, keep and release permits, take over, verify, submit jobs and work on them"],["verifier","–","verify permits, for a guarded resource"],["operator","viewer","pause, move, cordon, revoke and clear; cancel, retry and delete jobs; undo these"],["editor","viewer","create, replace and delete definitions; undo that"],["admin","all","everything, also change members, settings, bindings and tokens"]];function us(){let[e,t]=$({role:"ROLE_OPERATOR",semaphore:""}),[n,o]=$(null),[s,a]=$(null);return r`<section class="panel stack">
    <h2>May I?</h2>
    <form class="form" onSubmit=${l=>{l.preventDefault(),C("/v1/can-i",{role:e.role,semaphore:e.semaphore.trim()}).then(u=>(o(u),a(null)),a)}}>
      <${xe} label="Role" value=${e.role} onChange=${l=>t({...e,role:l})} options=${Uo.map(([l])=>[`ROLE_${l.toUpperCase()}`,l])} />
      <${P} label="On semaphore" value=${e.semaphore} onInput=${l=>t({...e,semaphore:l})} help="Empty: anywhere." />
      <p class="row full"><button class="primary">Ask</button></p>
    </form>
    <div role="status">
      ${n&&(n.allowed?r`<p class="lead tone-run">Yes.</p>`:r`<p class="lead"><strong class="tone-deny">No.</strong> ${n.reason}</p>`)}
    </div>
    ${s&&r`<${H} error=${s} />`}
  </section>`}function ps(){let e=E(t=>T("/v1/bindings",{},t),["bindings"]);return e.error?e.error.code==="PERMISSION_DENIED"?r`<${R} title="Only administrators see who may do what." />`:r`<${H} error=${e.error} retry=${e.refresh} />`:e.data?r`<${K}
      caption="Bindings"
      rows=${e.data.bindings}
      rowKey=${t=>t.name}
      empty=${r`<${R} title="There are no bindings." />`}
      columns=${[["Name",t=>t.name,"name"],["Subjects",t=>(t.subjects??[]).join(", ")||"–","name"],["May",t=>r`<ul class="changes">${(t.grants??[]).map(n=>r`<li>${$n(n)}</li>`)}</ul>`],["Tokens",t=>(t.tokens??[]).map(n=>`${n.id}${n.expires_at?` until ${L(n.expires_at)}`:""}`).join(", ")||"–"],["Changed",t=>`${L(t.updated_at)}${t.updated_by?` by ${t.updated_by}`:""}`,"num"]]}
    />
    <p class="faint">Change them with <code>gkctl auth bind</code>, <code>unbind</code> and <code>token</code>.</p>`:r`<${he} what="Reading the bindings" />`}function Ho(){oe("Access");let e=V(Ee);return r`<${Z}>Access<//>
    <div class="stack">
      <section class="panel">
        <h2>You</h2>
        ${e?e.authenticated?r`<${Ce} of=${[["Principal",e.principal],["Credential",e.credential],["You may",(e.grants??[]).map($n).join("; ")||"nothing"],["Acquirers",(e.acquirers??[]).join(", ")]]} />`:r`<p>These servers do not authenticate callers: everybody may do everything.</p>`:r`<${he} what="Asking who you are" />`}
      </section>
      <div class="panels">
        <${us} />
        <section class="panel"><h2>Roles</h2>
          <${K} caption="Roles" rows=${Uo} columns=${[["Role",t=>t[0]],["Includes",t=>t[1]],["May",t=>t[2]]]} />
        </section>
      </div>
      <section class="panel"><h2>Who may do what</h2><${ps} /></section>
    </div>`}var ds=["EVENT_KIND_CREATED","EVENT_KIND_REPLACED","EVENT_KIND_DELETED"],ms=e=>ds.includes(e)?"ROLE_EDITOR":"ROLE_OPERATOR";function _t({entries:e,semaphore:t,onChange:n}){let o="";return r`<ol class="entries">
    ${e.map(s=>{let a=s.revision!==o;return o=s.revision,r`<li key=${`${s.revision}.${s.ordinal??0}`} class=${a?"":"same"}>
        <div class="entry-head">
          <time class="num" datetime=${s.at} title=${L(s.at)}>${rt(s.at)}</time>
          <span class="tag tone-${Lo(s.kind)}">${A(s.kind,"EVENT_KIND_")}</span>
          ${!t&&s.semaphore&&r`<a class="mono" href=${`/s/${encodeURIComponent(s.semaphore)}`}>${s.semaphore}</a>`}
          <span class="grow">${Mo(s)}</span>
          <span class="faint"><a href=${`/activity?change=${s.revision}`}>change ${s.revision}</a>${s.author&&` by ${s.author}`}</span>
          ${a&&Po(s)&&r`<${q} role=${ms(s.kind)} semaphore=${s.semaphore??""} onClick=${()=>Ze(s.revision,n)}>Undo …<//>`}
        </div>
        ${s.reason&&r`<p class="entry-reason">${s.reason}</p>`}
        ${s.before&&s.after&&r`<${gn} before=${s.before} after=${s.after} />`}
      </li>`})}
  </ol>`}function Wo(){oe("Activity");let[e,t]=j(),n=e.get("change")??"";return r`<${Z} aside=${n&&r`<a class="button" href="/activity">All activity</a>`}>${n?`Change ${n}`:"Activity"}<//>
    ${n?r`<${$s} change=${n} />`:r`<${hs} params=${e} change=${t} />`}`}var fs=e=>e.split(/[\s,]+/).filter(Boolean).map(t=>/[*?[]/.test(t)?t:`*${t}*`);function hs({params:e,change:t}){let[n,o]=ke(e.get("q")??"",g=>t({q:g}),300),[s,a]=ke(e.get("labels")??"",g=>t({labels:g}),400),i=e.get("permits")==="1",l=e.get("by")??"",[u,d]=ke(l,g=>t({by:g}),300),[c,h]=$(50),m={names:fs(e.get("q")??""),labels:e.get("labels")??"",permits:i},p=E(g=>T("/v1/history",{...m,page_size:c},g),["journal",m,c],{every:15e3,keep:!0}),f=Ae(p.refresh,i?500:60);Se("/v1/watch",m,{message:({events:g=[]})=>g.length&&f(),missed:f,open:g=>g&&f()});let v=(p.data?.entries??[]).filter(g=>!l||(g.author??"").toLowerCase().includes(l.toLowerCase()));return r`<form class="filters" role="search" onSubmit=${g=>g.preventDefault()}>
      <div class="field grow"><label for="activity-q">Semaphores <kbd aria-hidden="true">/</kbd></label><input id="activity-q" data-search value=${n} onInput=${g=>o(g.target.value)} placeholder="part of a name, or a glob" spellcheck=${!1} autocomplete="off" /></div>
      <div class="field"><label for="activity-by">By</label><input id="activity-by" value=${u} onInput=${g=>d(g.target.value)} spellcheck=${!1} autocomplete="off" /></div>
      <div class="field"><label for="activity-labels">Labels</label><input id="activity-labels" value=${s} onInput=${g=>a(g.target.value)} spellcheck=${!1} autocomplete="off" /></div>
      <${le} label="Also how permits ended" checked=${i} onChange=${g=>t({permits:g?"1":""})} />
    </form>
    <section class="panel">
      <${W} of=${p} what="Reading the journal">
        ${g=>r`
          ${v.length?r`<${_t} entries=${v} onChange=${p.refresh} />`:r`<${R} title="The journal has nothing of that.">Edits, pauses, cordons and undos appear here as they happen.<//>`}
          ${g.next_page_token&&c<1e3&&r`<p class="row"><button type="button" onClick=${()=>h(Math.min(1e3,c*4))}>Show more</button></p>`}`}
      <//>
    </section>`}function $s({change:e}){let t=E(n=>T("/v1/history",{change:e,page_size:1e3},n),["change",e]);return r`<section class="panel">
    <${W} of=${t} what="Reading the journal">
      ${({entries:n=[],missing:o,next_page_token:s})=>r`
        ${o&&r`<p class="note">The journal has forgotten a part of this change${o.semaphores?.length?`: ${o.semaphores.join(", ")}`:""}.</p>`}
        ${n.length?r`<${_t} entries=${n} onChange=${t.refresh} />`:r`<${R} title=${`The journal has no change ${e}.`} />`}
        ${s&&r`<p class="faint">Only its first 1,000 entries are shown.</p>`}
        ${n.length>0&&n[0].undoes&&r`<p><a href=${`/activity?change=${n[0].undoes}`}>The change that it undoes</a></p>`}`}
    <//>
  </section>`}var Ht="M4 14V2",Bo={idle:[Ht,"M4 4l8-2"],running:[Ht,"M4 3l9 4v-3l-9-2z"],waiting:[Ht,"M4 5h9","M8 9h1M11 9h1M14 9h0"],paused:["M5.5 3v10","M10.5 3v10"],stopping:[Ht,"M4 4h9v4H4z"],"held for an operator":["M5 7V5a3 3 0 0 1 6 0v2","M4 7h8v6H4z"],missed:["M8 2a6 6 0 1 0 .1 0z","M8 5v3.5l2.5 1.5"],denied:["M8 2a6 6 0 1 0 .1 0z","M4.5 8h7"],disabled:["M3.5 3.5l9 9","M12.5 3.5l-9 9"],cordoned:["M8 2a6 6 0 1 0 .1 0z","M4 4l8 8"]};function bn({word:e}){let t=Bo[e]??Bo.idle;return r`<svg class="glyph" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    ${t.map(n=>r`<path d=${n} />`)}
  </svg>`}function vt({value:e,text:t}){let n=Do(e);return r`<span class="state tone-${n.tone}"><${bn} word=${n.word} /><span>${t??n.word}</span></span>`}function Ko({record:e}){let t=gt(e)[0];return r`<${vt} value=${t?.value} text=${Ro(e)} />`}function Wt({tone:e="idle",children:t}){return r`<span class="tag tone-${e}">${t}</span>`}var gs=()=>E(e=>T("/v1/cordons",{},e),["cordons"],{every:15e3,keep:!0});function Ue(){let e=gs(),[t,n]=$(null),o=e.data?.cordons??[];if(o.length===0)return null;let s=a=>C("/v1/uncordon",{id:a.id,...fe(),...At()}).then(i=>{_e(`Cordon ${a.id} is ended.`,{action:{text:"Undo",run:()=>Ze(i.revision,e.refresh)}}),n(null),e.refresh()},n);return r`<section class="cordons" aria-label="Cordons in force">
    <${H} error=${t} />
    <ul>
      ${o.map(a=>r`<li key=${a.id}>
          <span class="state tone-deny"><${bn} word="cordoned" />cordoned</span>
          <span class="grow">${hn(a)}${a.reason&&`: ${a.reason}`}${a.author&&r`<span class="faint"> by ${a.author}</span>`}</span>
          <${q} role="ROLE_OPERATOR" onClick=${()=>s(a)}>End it<//>
        </li>`)}
    </ul>
  </section>`}function _s({member:e,onClose:t,onDone:n}){let[o,s]=$(null);return r`<${ue} title="Hand leadership over" onClose=${t}>
    <form onSubmit=${i=>{i.preventDefault(),C("/v1/leadership:transfer",{id:e.id}).then(l=>{_e(`${l.leader_id} leads.`),n(),t()},s)}}>
      <p>${e.id} becomes the leader. Permits survive; calls wait a moment.</p>
      <${H} error=${o} />
      <p class="row end"><button type="button" onClick=${t}>Cancel</button><button class="primary">Let ${e.id} lead</button></p>
    </form>
  <//>`}function vs({status:e,onChange:t}){let[n,o]=$(null);return r`<section class="panel">
    <h2>Members</h2>
    <${K}
      caption="Members"
      rows=${e.members}
      rowKey=${s=>s.id}
      columns=${[["Server",s=>r`${s.id}${s.id===e.id&&r`<span class="faint"> (answers you)</span>`}`,"name"],["Role",s=>s.leader?r`<strong class="tone-run">leader</strong>`:s.voter?"follower":"non-voter"],["API",s=>s.api_address||"–","name"],["Peers",s=>s.peer_address||"–","name"],["",s=>s.voter&&!s.leader&&r`<${q} role="ROLE_ADMIN" onClick=${()=>o(s)}>Let it lead …<//>`,"end"]]}
    />
    ${n&&r`<${_s} member=${n} onClose=${()=>o(null)} onDone=${t} />`}
  </section>`}function bs({of:e}){return r`<section class="panel">
    <h2>Certificates</h2>
    <${K}
      caption="Certificates of this server"
      rows=${e}
      empty=${r`<${R} title="This server uses no TLS." />`}
      columns=${[["Port",t=>A(t.port,"CERTIFICATE_PORT_")],["Subject",t=>t.subject||"–","name"],["Ends",t=>{if(t.error)return r`<span class="tone-deny">${t.error}</span>`;let n=Date.parse(t.not_after)-nt();return r`<span class=${n<7*864e5?"tone-deny":n<30*864e5?"tone-wait":""}>${L(t.not_after)}, ${n>0?`in ${X(n)}`:"it has ended"}</span>`}]]}
    />
  </section>`}var ys=e=>N(e)<0?`${ye(-N(e))} behind`:`${ye(N(e))} ahead`;function ws({status:e}){let t=[...(e.member_clocks??[]).map(o=>({name:`server ${o.id}`,ahead:o.ahead})),...(e.host_clocks??[]).map(o=>({name:F(o),ahead:o.ahead,seen:o.seen}))],n=e.role==="SERVER_ROLE_LEADER";return r`<section class="panel">
    <h2>Clocks</h2>
    <${K}
      caption="Clocks that are off"
      rows=${t.slice(0,100)}
      empty=${r`<${R} title=${n?"No clock is off.":"Only the leader compares clocks."} />`}
      columns=${[["Whose",o=>o.name,"name"],["Off by",o=>r`<span class="tone-stop">${ys(o.ahead)}</span>`,"num"],["Seen",o=>o.seen?r`<${ce} at=${o.seen} /> ago`:"within the last minute","num"]]}
    />
  </section>`}function ks({status:e}){let t=Number(e.work_bytes??0),n=Number(e.max_work_bytes??0);return r`<section class="panel">
    <h2>Stored for jobs</h2>
    <p class="row"><${ve} share=${n?t/n:0} label="${we(t)} of ${we(n)}" /><span class="num">${we(t)} of ${we(n)}</span></p>
    <${K}
      caption="Semaphores with jobs"
      rows=${e.work}
      empty=${r`<${R} title="There are no jobs." />`}
      columns=${[["Semaphore",o=>r`<a href=${`/s/${encodeURIComponent(o.semaphore)}?tab=tasks`}>${o.semaphore}</a>`,"name"],["Jobs",o=>b(o.jobs),"num"],["Waiting",o=>b(o.waiting),"num"],["Running",o=>b(o.held),"num"],["Stored",o=>we(o.bytes),"num"]]}
    />
  </section>`}function Es(){let e=E(n=>T("/v1/settings",{stale:!0},n),["settings"]),t=(n,o)=>typeof o=="string"&&/s$/.test(o)?ye(N(o)):/bytes/.test(n)?we(o):b(o);return r`<section class="panel">
    <h2>Settings</h2>
    <${W} of=${e} what="Reading the settings">
      ${n=>r`<${Ce} of=${Object.entries(n.settings??{}).map(([o,s])=>[o,t(o,s)])} />
        <p class="faint">Change them with <code>gkctl cluster settings NAME=VALUE</code>.</p>`}
    <//>
  </section>`}function Vo(){oe("Cluster");let e=E(t=>T("/v1/status",{},t),["status"],{every:2e3,keep:!0});return r`<${Z}>Cluster<//>
    <${Ue} />
    <${W} of=${e} what="Asking this server">
      ${t=>{let n=Number(t.commit_index??0)-Number(t.applied_index??0);return r`<div class="stack">
          ${!t.leader_id&&r`<p class="failure" role="alert">There is no leader. Nothing is granted until a majority of the servers is there.</p>`}
          ${t.recovery_wait&&r`<p class="note">Nothing is granted for another ${X(N(t.recovery_wait))}: a recovery is being waited out.</p>`}
          ${t.insecure&&r`<p class="note">This server was started with --insecure: its ports may be reached without TLS and authentication.</p>`}
          ${t.denied_semaphores>0&&r`<div class="note"><p>${D(t.denied_semaphores,"semaphore is","semaphores are")} asked for in vain:</p>
            <ul>${t.denied.map(o=>r`<li key=${o.semaphore}><a href=${`/s/${encodeURIComponent(o.semaphore)}`}>${o.semaphore}</a>: ${o.text||o.message}</li>`)}</ul></div>`}
          <section class="panel">
            <h2>Server ${t.id}</h2>
            <${Ce} of=${[["Cluster",r`<code>${t.cluster_id}</code>`],["Leader",t.leader_id||"none"],["This server is",A(t.role,"SERVER_ROLE_")||"stopping"],["Term",t.term],["Revision",t.revision],["Applied",r`${t.applied_index}${n>0&&r`<span class="tone-wait"> (${b(n)} behind)</span>`}`],["Definitions",b(t.definitions)],["Permits",b(t.permits)],["Waiters",t.role==="SERVER_ROLE_LEADER"?b(t.waiters):"the leader knows"],["Log writes",t.log_writes&&r`<span>${ye(zo(t.log_writes.median))} median, ${ye(zo(t.log_writes.longest))} longest, of ${b(t.log_writes.count)}</span>`],["Last snapshot",t.last_snapshot?r`${t.last_snapshot.taken_at?r`<${ce} at=${t.last_snapshot.taken_at} /> ago`:`index ${t.last_snapshot.index}`}, ${we(t.last_snapshot.bytes)}`:"none yet"],["Smallest safe duration",t.smallest_duration&&ye(N(t.smallest_duration))],["Version",t.version],["Feature level",t.feature_level],["Up for",t.uptime&&X(N(t.uptime))]]} />
          </section>
          <div class="panels">
            <${vs} status=${t} onChange=${e.refresh} />
            <${bs} of=${t.certificates} />
            <${ws} status=${t} />
            <${ks} status=${t} />
          </div>
          <${Es} />
        </div>`}}
    <//>`}var zo=e=>+(parseFloat(e??"0")*1e3).toFixed(2);var yn=e=>e.failed?"deny":e.over?"run":A(e.state,"JOB_STATE_")==="cancelled"?"stop":"accent",wn=e=>{let t=A(e.state,"JOB_STATE_");return t==="cancelled"&&!e.over?"cancelled, some tasks still run":t},kn=e=>["waiting","held","done","failed","dropped","cancelled"].filter(t=>e[t]).map(t=>`${b(e[t])} ${t}`).join(", ");function En({job:e}){let t=e.tasks??0,n=`${b(e.done)} of ${D(t,"task","tasks")} done`;return r`<div class="job-progress">
    <${Fo}
      total=${t}
      label="${n}; ${kn(e)}"
      parts=${[[e.done??0,"run"],[e.held??0,"accent"],[e.failed??0,"deny"],[e.dropped??0,"stop"],[e.cancelled??0,"idle"]]}
    />
    <span class="num">${n}</span>
  </div>`}function xn({jobs:e}){return r`<${K}
    caption="Jobs"
    rows=${e}
    rowKey=${t=>t.submitted_revision}
    columns=${[["Job",t=>r`<a href=${`/jobs/${encodeURIComponent(t.spec.id)}`}>${t.spec.id}</a>`,"name"],["Semaphore",t=>r`<a href=${`/s/${encodeURIComponent(t.spec.semaphore)}`}>${t.spec.semaphore}</a>`,"name"],["State",t=>r`<span class="tag tone-${yn(t)}">${wn(t)}</span>`],["Progress",t=>r`<${En} job=${t} />`],["Failed",t=>t.failed?r`<strong class="tone-deny">${b(t.failed)}</strong>`:"0","num"],["Submitted",t=>r`<span title=${L(t.submitted_at)}><${ce} at=${t.submitted_at} /> ago</span>${t.spec.author&&r`<div class="sub">by ${t.spec.author}</div>`}`,"num"],["Stored",t=>we(t.bytes),"num"]]}
  />`}function Jo(e){return e.away?["away","stop"]:e.draining?["draining","wait"]:e.denied&&e.denied!=="REASON_UNSPECIFIED"?[`denied: ${A(e.denied,"REASON_")}`,"deny"]:e.waiting?["waiting","wait"]:e.tasks?.length?["working","run"]:["idle","idle"]}var xs=e=>e.state==="PERMIT_STATE_HELD"?"lost: clear its slot":e.state==="PERMIT_STATE_COOLING"?`lost: cools for ${X(N(e.expires_in))}`:"";function Tn({data:e}){let t=[...e.workers??[],...e.away??[]];return r`<${K}
    caption="Workers"
    rows=${t}
    rowKey=${(n,o)=>`${n.semaphore} ${F(n.identity)} ${n.identity?.holder_id} ${o}`}
    empty=${r`<${R} title="Nobody works.">A worker is a program that takes tasks, as gkctl work does.<//>`}
    columns=${[["Worker",n=>F(n.identity),"name"],["Semaphore",n=>r`<a href=${`/s/${encodeURIComponent(n.semaphore)}`}>${n.semaphore}</a>`,"name"],["State",n=>r`<span class="tag tone-${Jo(n)[1]}">${Jo(n)[0]}</span>`],["Free",n=>b(n.free),"num"],["Tasks",n=>n.tasks?.length?r`<ul class="held">${n.tasks.slice(0,8).map(o=>r`<li key=${o.token}><a href=${`/jobs/${encodeURIComponent(o.job)}`}>${o.job}</a> ${b(o.index)}, for <${ce} at=${o.granted_at} />
                ${o.progress&&r` <${ve} share=${o.progress.fraction} label="${Math.round(100*(o.progress.fraction??0))} %" /> ${o.progress.text}`} ${xs(o)}</li>`)}${n.tasks.length>8&&r`<li>and ${b(n.tasks.length-8)} more</li>`}</ul>`:"–"]]}
  />`}var Ts=[["","any"],["JOB_STATE_OPEN","open"],["JOB_STATE_ENDED","ended"],["JOB_STATE_CANCELLED","cancelled"],["JOB_STATE_RECEIVING","receiving"]];function Ss(){let[e,t]=j(),[n,o]=ke(e.get("semaphore")??"",c=>t({semaphore:c}),300),[s,a]=ke(e.get("labels")??"",c=>t({labels:c}),300),i={semaphore:e.get("semaphore")??"",labels:e.get("labels")??"",states:e.getAll("state")},[l,u]=$(""),d=E(c=>T("/v1/jobs",{...i,page_size:100,page_token:l},c),["jobs",i,l],{every:2e3,keep:!0});return r`<form class="filters" role="search" onSubmit=${c=>c.preventDefault()}>
      <div class="field"><label for="job-semaphore">Semaphore</label><input id="job-semaphore" data-search value=${n} onInput=${c=>o(c.target.value)} spellcheck=${!1} /></div>
      <div class="field"><label for="job-labels">Labels</label><input id="job-labels" value=${s} onInput=${c=>a(c.target.value)} placeholder="team=billing" spellcheck=${!1} /></div>
      <${xe} label="State" value=${e.get("state")??""} onChange=${c=>t({state:c})} options=${Ts} />
    </form>
    <section class="panel">
      <${W} of=${d} what="Reading the jobs">
        ${c=>r`
          ${c.jobs?.length?r`<${xn} jobs=${c.jobs} />`:r`<${R} title="No job matches.">Jobs are submitted by programs, or with gkctl job submit.<//>`}
          <p class="row end">
            ${l&&r`<button type="button" onClick=${()=>u("")}>First page</button>`}
            ${c.next_page_token&&r`<button type="button" onClick=${()=>u(c.next_page_token)}>Next page</button>`}
          </p>`}
      <//>
    </section>`}function Cs(){let e=E(t=>T("/v1/workers",{},t),["workers"],{every:2e3,keep:!0});return r`<section class="panel"><${W} of=${e} what="Reading the workers">${t=>r`<${Tn} data=${t} />`}<//></section>`}function Go(){oe("Jobs");let[e]=j();return r`<${Z}>Jobs<//>
    <${st} of=${[["jobs","Jobs"],["workers","Workers"]]} label="Jobs and workers" />
    ${e.get("tab")==="workers"?r`<${Cs} />`:r`<${Ss} />`}`}function Bt({title:e,text:t,verb:n,run:o,done:s,onClose:a,onDone:i,reason:l}){let[u,d]=$(""),[c,h]=$(null),[m,p]=$(!1);return r`<${ue} title=${e} onClose=${a}>
    <form onSubmit=${async v=>{if(v.preventDefault(),!m){p(!0);try{_e(s(await o(u))),i(),a()}catch(g){h(g),p(!1)}}}}>
      <p>${t}</p>
      ${l&&r`<${P} label="Reason" value=${u} onInput=${d} maxlength="1024" />`}
      <${H} error=${c} />
      <p class="row end"><button type="button" onClick=${a}>Cancel</button><button class="primary">${m?"Working …":n}</button></p>
    </form>
  <//>`}function Ds({job:e,onChange:t}){let[n,o]=$(""),{id:s,semaphore:a}=e.spec,i=A(e.state,"JOB_STATE_"),l={onClose:()=>o(""),onDone:t},u=(d,c,h)=>r`<${q} role="ROLE_OPERATOR" semaphore=${a} why=${h} onClick=${()=>o(d)}>${c}<//>`;return r`
    ${u("retry","Retry failed …",e.failed?"":"No task has failed.")}
    ${u("drop","Drop failed …",e.failed?"":"No task has failed.")}
    ${u("cancel","Cancel …",e.over?"The job is over.":i==="cancelled"?"It is cancelled already.":"")}
    ${u("delete","Delete …",e.over?"":"The job is not over. Cancel it first.")}
    ${n==="retry"&&r`<${Bt} ...${l} title="Retry failed tasks" verb="Retry" text=${`${D(e.failed,"failed task is","failed tasks are")} handed out again.`}
      run=${()=>C(ie`/v1/jobs/${s}:retry`,{as_of:e.revision})} done=${d=>`${D(d.tasks??0,"task","tasks")} handed out again.`} />`}
    ${n==="drop"&&r`<${Bt} ...${l} title="Drop failed tasks" verb="Drop" text=${`${D(e.failed,"failed task is","failed tasks are")} given up. They cannot be retried.`}
      run=${()=>C(ie`/v1/jobs/${s}:drop`,{as_of:e.revision})} done=${d=>`${D(d.tasks??0,"task","tasks")} dropped.`} />`}
    ${n==="cancel"&&r`<${Bt} ...${l} title=${`Cancel ${s}`} verb="Cancel the job" reason
      text=${`${D(e.waiting??0,"waiting task is","waiting tasks are")} not executed, and ${D(e.held??0,"running task stops","running tasks stop")}.`}
      run=${d=>C(ie`/v1/jobs/${s}:cancel`,{reason:d,submitted_revision:e.submitted_revision,...fe()})} done=${()=>`${s} is cancelled.`} />`}
    ${n==="delete"&&r`<${Bt} ...${l} title=${`Delete ${s}`} verb="Delete the job" text="The job is removed with its results."
      run=${()=>Ye("DELETE",ie`/v1/jobs/${s}`,{query:{submitted_revision:e.submitted_revision}})} done=${()=>`${s} is deleted.`} onDone=${()=>me("/jobs")} />`}`}var Qo={waiting:"idle",held:"accent",done:"run",failed:"deny",dropped:"stop",cancelled:"stop"},Rs=[["","any"],...Object.keys(Qo).map(e=>[e,e])];function Os({job:e,index:t,onClose:n}){let o=E(s=>T(ie`/v1/jobs/${e}/tasks`,{from:t,page_size:1,payloads:!0,results:!0},s),["task",e,t]);return r`<${ue} title=${`Task ${t} of ${e}`} onClose=${n} wide>
    <${W} of=${o} what="Reading the task">
      ${s=>{let a=s.tasks?.[0];return a?r`<${Ce} of=${[["State",A(a.state,"TASK_STATE_")],["Attempts",b(a.attempts)],["Worker",a.worker&&F(a.worker)],["Token",a.token],["Returned unfinished",a.returns]]} />
          ${a.failure&&r`<h3>Failure</h3><pre>${a.failure}</pre>`}
          <h3>Payload</h3><pre>${un(a.payload)||"(none)"}</pre>
          <h3>Result</h3><pre>${un(a.result)||"(none)"}</pre>`:r`<${R} title="There is no such task." />`}}
    <//>
  <//>`}function As({id:e,round:t}){let[n,o]=j(),s=n.get("task")??"",[a,i]=$(0),[l,u]=$(null),d={states:s?[`TASK_STATE_${s.toUpperCase()}`]:[],from:a,page_size:100},c=E(h=>T(ie`/v1/jobs/${e}/tasks`,d,h),["tasks",e,d,t],{keep:!0});return r`<section class="panel">
    <div class="title"><h2>Tasks</h2>
      <${xe} label="In state" value=${s} onChange=${h=>(i(0),o({task:h}))} options=${Rs} /></div>
    <${W} of=${c} what="Reading the tasks">
      ${h=>r`<${K}
          caption="Tasks"
          rows=${h.tasks}
          rowKey=${m=>m.index??0}
          empty=${r`<${R} title="No task is in that state." />`}
          columns=${[["Task",m=>r`<button type="button" class="plain" onClick=${()=>u(m.index??0)}>${b(m.index)}<span class="sr-only">: show payload and result</span></button>`,"num"],["State",m=>r`<span class="tag tone-${Qo[A(m.state,"TASK_STATE_")]}">${A(m.state,"TASK_STATE_")}</span>`],["Attempts",m=>b(m.attempts),"num"],["Worker",m=>m.worker?F(m.worker):"–","name"],["Progress",m=>m.progress?r`<${ve} share=${m.progress.fraction} label=${`${Math.round(100*(m.progress.fraction??0))} %`} /> ${m.progress.text}`:"–"],["Failure",m=>m.failure||"–"]]}
        />
        <p class="row end">
          ${a>0&&r`<button type="button" onClick=${()=>i(0)}>First page</button>`}
          ${h.next>0&&r`<button type="button" onClick=${()=>i(h.next)}>Next page</button>`}
        </p>`}
    <//>
    ${l!==null&&r`<${Os} job=${e} index=${l} onClose=${()=>u(null)} />`}
  </section>`}function Yo({name:e}){oe(e);let t=E(d=>T(ie`/v1/jobs/${e}`,{},d),["job",e],{every:15e3}),[n,o]=$(0),s=Ae(()=>o(d=>d+1),1e3),[a,i]=$(null),l=()=>{t.refresh(),s(),i(null)},u=t.data?.job;return S(()=>{u&&!u.over&&a===null&&i(u.revision)},[u?.over,a]),Se(a!==null?ie`/v1/jobs/${e}:follow`:null,{after_revision:a},{message(d){d.job&&t.set(()=>({job:d.job})),s()},end:l}),t.error?.code==="NOT_FOUND"?r`<${Z}>${e}<//><${R} title="There is no job of this id.">It may have been deleted, or kept for its time. <a href="/jobs">All jobs</a><//>`:u?r`<${Z} aside=${r`<${Ds} job=${u} onChange=${l} />`}>${e}<//>
    <div class="stack">
      <section class="panel stack">
        <p class="row"><span class="tag tone-${yn(u)}">${wn(u)}</span><span>${kn(u)}</span></p>
        <${En} job=${u} />
        ${u.cancel_text&&r`<p class="note">Cancelled ${u.cancel_text}</p>`}
        <${Ce} of=${[["Semaphore",r`<a href=${`/s/${encodeURIComponent(u.spec.semaphore)}`}>${u.spec.semaphore}</a>`],["Submitted",`${L(u.submitted_at)}${u.spec.author?` by ${u.spec.author}`:""}`],["Ended",u.ended_at&&`${L(u.ended_at)}, after ${X(Date.parse(u.ended_at)-Date.parse(u.submitted_at))}`],["Priority",u.spec.priority],["Attempts of a task",u.spec.max_attempts],["Timeout",Xe(u.spec.timeout)],["Kept after its end",Xe(u.spec.retention)],["Stored",we(u.bytes)],["Labels",Object.entries(u.spec.labels??{}).map(([d,c])=>`${d}=${c}`).join(", ")]]} />
      </section>
      <${As} id=${e} round=${n} />
    </div>`:r`<${Z}>${e}<//>${t.error&&!t.error.offline?r`<${H} error=${t.error} retry=${t.refresh} />`:r`<${he} what="Reading the job" />`}`}function Xo(){oe("Log in");let[e]=j(),[t,n]=$(""),[o,s]=$(null),[a,i]=$(!1),l=e.get("next")??"/";return r`<div class="login">
    <img src="/assets/icon.svg" alt="" width="48" height="48" />
    <${Z}>Log in to Gatekeeper<//>
    <form onSubmit=${async d=>{d.preventDefault(),i(!0);try{await $o(t.trim()),me(/^\/(?![/\\])/.test(l)?l:"/",{replace:!0})}catch(c){s(c),i(!1)}}}>
      <${P}
        label="Bearer token"
        help="From gkctl auth token create. It stays in this browser as a cookie that scripts cannot read, for 12 hours."
        type="password"
        autocomplete="current-password"
        value=${t}
        onInput=${n}
        required
        autofocus
      />
      ${o&&r`<${H} error=${o.status===401?{message:"The servers do not know this token. It may have ended, or been revoked."}:o} />`}
      <p class="row end"><button class="primary" disabled=${a||!t.trim()}>${a?"Asking …":"Log in"}</button></p>
    </form>
  </div>`}function Zo({change:e,effects:t,onEnd:n}){let o=pe(()=>t.flatMap(f=>f.stopped??[]),[t]),s=pe(()=>Date.now(),[e]),[a,i]=$({});Oe();let l=o.filter(f=>!a[f.permit.token]),u=[...new Set(l.map(f=>f.permit.semaphore))],d=pe(()=>u.length<=40?u:[],[e]),c=f=>f.length&&i(v=>({...Object.fromEntries(f),...v})),h=async()=>{let{items:f}=await be("/v1/holders",{names:d},"permits",void 0,1e5),v=new Map(f.map(g=>[g.token,g]));c(o.filter(g=>!v.has(g.permit.token)).map(g=>[g.permit.token,{how:"gone",after:Date.now()-s}]))};if(Se(o.length?"/v1/watch":null,{names:d,permits:!0,from_revision:String(BigInt(e)+1n)},{message({events:f=[]}){let v=new Set(o.map(g=>g.permit.token));c(f.filter(g=>g.permit&&v.has(g.permit.token)&&g.ended).map(g=>[g.permit.token,{how:A(g.ended,"PERMIT_END_"),after:Date.now()-s}]))},missed:()=>h().catch(()=>{})}),S(()=>{o.length&&l.length===0&&n?.()},[l.length]),o.length===0)return r`<p class="lead">No holder had to stop.</p>`;let m=l.filter(f=>Date.now()-s>N(f.free_within)),p=o.length-l.length;return r`<section class="follow" aria-label="Holders that stop">
    <p class="lead" role="status">
      ${l.length===0?`${D(o.length,"holder has","holders have")} stopped.`:`${b(p)} of ${D(o.length,"holder has","holders have")} stopped.`}
      ${m.length>0&&r` <strong>${D(m.length,"holder","holders")} did not stop in time.</strong>`}
    </p>
    <${ve} share=${p/o.length} tone=${m.length?"stop":"run"} label=${`${p} of ${o.length} stopped`} />
    <${K}
      caption="Holders that must stop"
      rows=${[...m,...l.filter(f=>!m.includes(f)),...o.filter(f=>a[f.permit.token])].slice(0,600)}
      rowKey=${f=>f.permit.token}
      columns=${[["Semaphore",f=>r`<a href=${`/s/${encodeURIComponent(f.permit.semaphore)}`}>${f.permit.semaphore}</a>`,"name"],["Holder",f=>F(f.permit.identity),"name"],["Token",f=>f.permit.token,"num"],["Now",f=>{let v=a[f.permit.token];if(v)return r`<span class="tone-run">${v.how} after ${X(v.after)}</span>`;let g=s+N(f.free_within)-Date.now();return g>0?r`<span class="tone-wait">stops within <span class="num">${ot(g)}</span></span>`:r`<span class="tone-deny">did not stop in time</span>`}]]}
    />
  </section>`}function He({lasts:e,until:t}){return e?.trim()?{lasts:Te(e)}:t?{until:new Date(t).toISOString()}:{}}var De=e=>e?.trim()?{drain:Te(e)}:{};function We(e){try{return e(),""}catch(t){return t.message}}function et({value:e,set:t,without:n="It stays until somebody ends it."}){return r`<${P}
      label="For"
      placeholder="2h"
      value=${e.lasts??""}
      onInput=${o=>t({...e,lasts:o,until:""})}
      error=${We(()=>Te(e.lasts??""))}
      help=${`As 30m or 2h. ${n}`}
    />
    <${P} label="Or until" type="datetime-local" value=${e.until??""} onInput=${o=>t({...e,until:o,lasts:""})} />`}function Be({value:e,set:t}){return r`<${P}
    label="Drain"
    placeholder="2m"
    value=${e.drain??""}
    onInput=${n=>t({...e,drain:n})}
    error=${We(()=>Te(e.drain??""))}
    help="How long holders that must stop may continue. Empty: their next refresh is refused."
  />`}var at=100,er=(e,t)=>{let n=[];for(let o=Math.floor(e/at);o<=Math.floor(Math.max(e,t-1)/at);o++)n.push(o);return n};function tr(e){let t=JSON.stringify(e),n=V(Me),[,o]=$(0),s=()=>o(h=>h+1),a=pe(()=>({pages:new Map,asked:new Map,total:void 0,window:[0,1]}),[t]),i=Q(a);i.current=a;let l=(h,m)=>{if(!m&&(a.pages.has(h)||a.asked.has(h)))return;a.asked.get(h)?.abort();let p=new AbortController;a.asked.set(h,p),T("/v1/definitions",{...e,page_size:at,skip:h*at},p.signal).then(f=>{i.current===a&&(a.asked.delete(h),a.error=void 0,a.pages.set(h,f.records??[]),a.total=f.total??(f.records??[]).length,s())},f=>{p.signal.aborted||i.current!==a||(a.asked.delete(h),a.error=f,s())})},u=(h,m)=>{a.window=[h,m];let p=er(h,m);for(let[f,v]of a.asked)p.includes(f)||(v.abort(),a.asked.delete(f));for(let f of p)l(f)},d=()=>{let h=er(...a.window);for(let m of a.pages.keys())h.includes(m)||a.pages.delete(m);for(let m of h)l(m,!0)},c=Q(d);return c.current=d,S(()=>(l(0),()=>a.asked.forEach(h=>h.abort())),[t]),S(()=>{n&&c.current()},[n]),S(()=>{let h=setInterval(()=>document.hidden||c.current(),15e3);return()=>clearInterval(h)},[]),{at:h=>a.pages.get(Math.floor(h/at))?.[h%at],total:a.total,error:a.error,want:u,refresh:d,update(h){let m=new Map(h.map(p=>[p.definition.name,p]));for(let p of a.pages.values())p.forEach((f,v)=>{let g=m.get(f.definition.name);g&&(p[v]=g)});s()}}}var nr=8,Kt=4;function or({total:e,height:t,row:n,range:o,open:s,label:a,head:i,columns:l}){let u=Q(null),[d,c]=$([0,30]),[h,m]=$(0),p=Q(!1);pt(()=>{let k=0,J=()=>{k=0;let se=u.current?.getBoundingClientRect();if(!se)return;let G=Math.max(0,Math.floor(-se.top/t/Kt)*Kt-nr),Y=Math.min(e,Math.ceil((innerHeight-se.top)/t/Kt)*Kt+nr);c(w=>w[0]===G&&w[1]===Y?w:[G,Math.max(G,Y)])},ae=()=>k||=requestAnimationFrame(J);J(),addEventListener("scroll",ae,{passive:!0}),addEventListener("resize",ae);let re=new ResizeObserver(ae);return re.observe(document.body),()=>{cancelAnimationFrame(k),removeEventListener("scroll",ae),removeEventListener("resize",ae),re.disconnect()}},[e,t]),S(()=>{o?.(d[0],d[1])},[d[0],d[1],e]),pt(()=>{if(!p.current)return;let k=u.current?.querySelector(`[data-row="${h}"]`);k&&(p.current=!1,k.focus({preventScroll:!0}),k.scrollIntoView({block:"nearest"}))});let f=Math.min(h,Math.max(0,e-1)),v=k=>{if(e===0)return;p.current=!0,m(Math.max(0,Math.min(e-1,k)));let J=u.current.getBoundingClientRect().top+scrollY+k*t;(J<scrollY||J>scrollY+innerHeight)&&scrollTo(0,Math.max(0,J-innerHeight/2))},g=Math.max(1,Math.floor(innerHeight/t)-4),x={ArrowDown:()=>v(f+1),ArrowUp:()=>v(f-1),PageDown:()=>v(f+g),PageUp:()=>v(f-g),Home:()=>v(0),End:()=>v(e-1),Enter:()=>s?.(f)},y=k=>{!x[k.key]||k.ctrlKey||k.metaKey||k.altKey||k.key==="Enter"&&k.target.tagName==="A"||(k.preventDefault(),x[k.key]())},I=k=>{let J=k.target.closest("[data-row]");J&&m(Number(J.dataset.row))};S(()=>{let k=()=>v(f);return addEventListener("enter-list",k),()=>removeEventListener("enter-list",k)});let M=[];for(let k=d[0];k<Math.min(d[1],e);k++)M.push(k);return e>0&&(f<d[0]||f>=d[1])&&M.push(f),r`<div class="grid" role="grid" aria-label=${a} aria-rowcount=${e+1} aria-colcount=${l} onKeyDown=${y} onFocusIn=${I}>
    <div class="grid-head" role="row" aria-rowindex="1">${i}</div>
    <div class="grid-body" role="rowgroup" ref=${u} style=${{height:`${e*t}px`}}>
      ${M.map(k=>r`<div
          key=${k}
          class="grid-row"
          role="row"
          aria-rowindex=${k+2}
          data-row=${k}
          tabindex=${k===f?0:-1}
          style=${{transform:`translateY(${k*t}px)`,height:`${t}px`}}
        >${n(k)}</div>`)}
    </div>
  </div>`}function Rn(e){return{search:e.get("q")??"",group:e.get("group")??"",labels:e.get("labels")??"",states:e.getAll("state").map(t=>`DEFINITION_STATE_${t.toUpperCase()}`)}}var Sn=e=>e.value.slice(17).toLowerCase();function Is({counts:e,total:t}){let[n,o]=j(),s=n.getAll("state"),a=i=>o({state:s.includes(i)?s.filter(l=>l!==i):[...s,i]});return r`<div class="states" role="group" aria-label="Filter by state">
    <button type="button" class="stat" aria-pressed=${s.length===0} onClick=${()=>o({state:""})}>
      <span class="stat-n num">${t===void 0?"–":b(t)}</span><span class="stat-w">all</span>
    </button>
    ${Ft.map(i=>{let l=e?.get(i.value);return r`<button
        type="button"
        key=${i.value}
        class="stat ${e&&!l?"zero":""} tone-${i.tone}"
        aria-pressed=${s.includes(Sn(i))}
        title=${i.help}
        onClick=${()=>a(Sn(i))}
      >
        <span class="stat-n num">${e?b(l):"–"}</span><span class="stat-w"><${vt} value=${i.value} text=${Sn(i)} /></span>
      </button>`})}
  </div>`}var Ns=e=>/[,=!()"]/.test(e)?`"${e.replaceAll('"','\\"')}"`:e;function Ms({labels:e}){let[t,n]=j(),o=t.get("labels")??"",[s,a]=ke(o,c=>n({labels:c}),400),[i,l]=$(""),u=e?.find(c=>c.key===i)?.values??[],d=c=>{c&&(n({labels:[o,c==="*"?i:`${i}=${Ns(c)}`].filter(Boolean).join(",")}),l(""))};return r`<div class="field">
      <label for="labels">Labels</label>
      <input id="labels" value=${s} placeholder="team=data,tier!=test" onInput=${c=>a(c.target.value)} autocomplete="off" spellcheck=${!1} />
    </div>
    ${e?.length>0&&r`<${xe} label="Add a label" value=${i} onChange=${l} options=${[["","Label …"],...e.map(c=>[c.key,c.key])]} />
      ${i&&r`<${xe} label="Value" value="" onChange=${d} options=${[["","Value …"],["*","any value"],...u.map(c=>[c.value,`${c.value} (${b(c.count)})`])]} />`}`}`}function Ls({summary:e,shown:t}){let[n,o]=j(),[s,a]=ke(n.get("q")??"",p=>o({q:p})),[i,l]=ke(n.get("group")??"",p=>o({group:p}),400),u=["q","group","labels","state"].filter(p=>n.get(p)),d=E(p=>be("/v1/known",{},"callers",p),["known"]),c=[...new Set((d.data?.items??[]).map(p=>p.group))].sort(),h=Pt("(min-width: 60rem)");return r`<form class="filters" role="search" onSubmit=${p=>p.preventDefault()}>
    <div class="field grow">
      <label for="search">Search <kbd aria-hidden="true">/</kbd></label>
      <input id="search" type="search" data-search value=${s} placeholder="Words of name, description or label" onInput=${p=>a(p.target.value)} onKeyDown=${p=>{p.key!=="ArrowDown"&&p.key!=="Enter"||(p.preventDefault(),dispatchEvent(new Event("enter-list")))}} autocomplete="off" spellcheck=${!1} />
    </div>
    <details class="more-filters" open=${h||u.some(p=>p==="group"||p==="labels")}>
      <summary>Filters</summary>
      <div class="filters-in">
        <div class="field">
          <label for="group">Lets in group</label>
          <input id="group" value=${i} list="groups" placeholder="any" onInput=${p=>l(p.target.value)} autocomplete="off" spellcheck=${!1} />
          <datalist id="groups">${c.map(p=>r`<option value=${p} />`)}</datalist>
        </div>
        <${Ms} labels=${e?.labels} />
      </div>
    </details>
    <p class="row filters-end">
      <span class="num" role="status">${t}</span>
      ${u.length>0&&r`<button type="button" onClick=${()=>o({q:"",group:"",labels:"",state:""})}>Clear the filters</button>`}
      <a class="button" href=${`/move?${new URLSearchParams([...n,["from_filter","1"]])}`}>Move or pause these</a>
    </p>
  </form>`}var Cn=["State","Semaphore","In use","Holder","Time left","Queue","Lets in group"],Dn=class extends tt{shouldComponentUpdate(t){let{record:n,permits:o,live:s}=this.props;return t.record!==n||t.permits!==o||t.live?.waiters!==s?.waiters}render({record:t,permits:n,live:o}){return r`<${Ps} record=${t} permits=${n} live=${o} />`}};function Ps({record:e,permits:t,live:n}){if(!e)return r`<span class="row-loading" role="gridcell" aria-colspan=${Cn.length}>Reading …</span>`;let o=e.definition,s=t?.[0],a=(e.holders??0)-1,i=jt(e)[0],l=`/s/${encodeURIComponent(o.name)}`,u=Number(e.used??0),d=o.permits??0,c=n?.waiters??e.waiters??0;return r`
    <span class="c-state" role="gridcell"><${Ko} record=${e} /></span>
    <span class="c-name" role="rowheader">
      <a href=${l} tabindex="-1">${o.name}</a>
      <span class="sub">${i??o.description??""}</span>
    </span>
    <span class="c-used num" role="gridcell">
      <${ve} share=${d?u/d:u?1:0} tone=${u>d?"deny":"accent"} label="${u} of ${d} permits in use" />
      <span>${b(u)}<span class="faint"> / ${b(d)}</span></span>
    </span>
    <span class="c-holder" role="gridcell">
      ${s?r`<span class="clip">${F(s.identity)}</span><span class="sub">for <${ce} at=${s.granted_at} />${a>0&&` and ${b(a)} more`}</span>`:a>=0?r`<span class="sub">${D(a+1,"holder","holders")}</span>`:r`<span class="faint">–</span>`}
    </span>
    <span class="c-left" role="gridcell">${s?r`<${qt} at=${s.deadline} of=${N(s.duration)} />`:r`<span class="faint">–</span>`}</span>
    <span class="c-queue num" role="gridcell">${c?r`<span class="tag tone-wait">${b(c)}</span>`:r`<span class="faint">0</span>`}</span>
    <span class="c-group" role="gridcell"><code class="clip">${o.group_pattern}</code></span>`}var Fs=6e3;function rr(){oe("Overview");let[e]=j(),t=Rn(e),n=tr(t),o=Pt("(max-width: 47.99rem)"),s=Pt("(max-width: 63.99rem)"),a=o?104:s?76:52,{search:i,group:l,labels:u}=t,d=E(w=>T("/v1/definitions:summarize",{search:i,group:l,labels:u},w),["summary",i,l,u],{every:15e3,keep:!0}),c=pe(()=>d.data&&new Map((d.data.states??[]).map(w=>[w.state,w.count])),[d.data]),[h,m]=$(new Map),[p,f]=$(new Map),[v,g]=$([]),x=Q(new Set),y=Q([0,0]),I=Ae(()=>{let[w,_]=y.current,U=[],O=0;for(let z=w;z<_&&O<Fs;z++){let ne=n.at(z)?.definition.name;ne&&(U.push(ne),O+=ne.length+8)}g(z=>z.join(`
`)===U.join(`
`)?z:U)},150),M=(w,_)=>{y.current=[w,_],n.want(w,_),I()};S(I);let k=async(w,_)=>{let U=Date.now(),{items:O}=await be("/v1/holders",{names:w},"permits",_),z=new Map(w.map(ne=>[ne,[]]));for(let ne of O)z.get(ne.semaphore)?.push({...ne,deadline:ne.expires_in?U+N(ne.expires_in):0});m(ne=>new Map([...ne,...z]))},J=Ae(async()=>{let w=[...x.current];if(x.current.clear(),w.length===0)return;let[_]=await Promise.all([T("/v1/definitions",{names:w,page_size:1e3}),k(w)]).catch(()=>[]);_&&n.update(_.records??[])},40);S(()=>{if(v.length===0)return;let w=new AbortController;k(v,w.signal).catch(()=>{});let _=setInterval(()=>{document.hidden||(v.forEach(U=>x.current.add(U)),J())},5e3);return()=>{w.abort(),clearInterval(_)}},[v]);let ae=()=>{v.forEach(w=>x.current.add(w)),J()};Se(v.length?"/v1/watch":null,{names:v,permits:!0,live_every:"1s"},{open:w=>w&&ae(),missed:ae,message({events:w=[]}){for(let _ of w)_.semaphore&&x.current.add(_.semaphore);J()},live(w){let _=(w.live??w).semaphores??[],U=Date.now();f(new Map(_.map(O=>[O.semaphore,O]))),m(O=>{let z=new Map(O);for(let ne of _){let Ke=new Map((ne.deadlines??[]).map(ze=>[ze.token,U+N(ze.expires_in)])),Ln=z.get(ne.semaphore);Ln&&z.set(ne.semaphore,Ln.map(ze=>Ke.has(ze.token)?{...ze,deadline:Ke.get(ze.token)}:ze))}return z})}});let re=w=>{let _=n.at(w);_&&me(`/s/${encodeURIComponent(_.definition.name)}`)},se=n.total,G=se===void 0?"…":D(se,"semaphore","semaphores"),Y=pe(()=>r`<${Z} aside=${r`<${js} />`}>Overview<//>
      <${Ue} />
      <${Is} counts=${c} total=${d.data&&(d.data.total??0)} />
      <${Ls} summary=${d.data} shown=${G} />`,[c,d.data,G]);return r`${Y}
    ${n.error&&!n.error.offline&&r`<${H} error=${n.error} retry=${n.refresh} />`}
    ${se===void 0?!n.error&&r`<${he} what="Reading the semaphores" />`:se===0?r`<${qs} filtered=${[...e].length>0} />`:r`<${or}
            label="Semaphores"
            total=${se}
            height=${a}
            columns=${Cn.length}
            range=${M}
            open=${re}
            head=${Cn.map(w=>r`<span role="columnheader">${w}</span>`)}
            row=${w=>{let _=n.at(w),U=_?.definition.name;return r`<${Dn} record=${_} permits=${h.get(U)} live=${p.get(U)} />`}}
          />`}`}function js(){let[e,t]=$(!1),[n,o]=$("");return r`<${q} role="ROLE_EDITOR" onClick=${()=>t(!0)}>New semaphore …<//>
    ${e&&r`<${ue} title="New semaphore" onClose=${()=>t(!1)}>
      <form onSubmit=${a=>{a.preventDefault(),n.trim()&&me(`/s/${encodeURIComponent(n.trim())}?tab=rule`)}}>
        <${P} label="Name" value=${n} onInput=${o} maxlength="256" required help="As callers ask for it. It cannot be changed later." />
        <p class="row end"><button type="button" onClick=${()=>t(!1)}>Cancel</button><button class="primary">Write its rule …</button></p>
      </form>
    <//>`}`}function qs({filtered:e}){return e?r`<${R} title="No semaphore matches.">Remove a filter to see more.<//>`:r`<${R} title="There are no semaphores yet.">Create the first one with <code>gkctl apply -f FILE</code>, or give gatekeeperd a file by <code>--definitions</code>.<//>`}var Us=[["move","Move"],["pause","Pause"],["resume","Resume"],["cordon","Cordon"]],sr=e=>e.split(/[\n,]/).map(t=>t.trim()).filter(Boolean);function ir(){let[e,t]=j(),[n,o]=$(e.getAll("names").join(`
`)),[s,a]=$(e.get("labels")??""),[i,l]=$(e.get("all")==="1"),[u,d]=$(null),c=Rn(e),h=e.get("from_filter")==="1"&&(c.search||c.group||c.states.length>0);S(()=>{h&&be("/v1/definitions",c,"records",void 0,1e3).then(({items:p,more:f})=>{o(p.map(v=>v.definition.name).join(`
`)),a(""),t({q:"",group:"",state:"",labels:"",from_filter:""}),f&&d(new Error("More than 1,000 semaphores match. Only the first 1,000 are listed here; choose by a label or a glob instead."))},d)},[]);let m=i?{all:!0}:{...sr(n).length&&{names:sr(n)},...s.trim()&&{labels:s.trim()}};return{names:n,setNames:o,labels:s,setLabels:a,everything:i,setEverything:l,selector:m,error:u,given:i||n.trim()!==""||s.trim()!==""}}function lr({of:e,optional:t}){let n=E(e.given?a=>T("/v1/definitions",{names:e.selector.names,labels:e.selector.labels,page_size:4},a):null,["chosen",e.selector],{keep:!0}),o=n.data?.records??[],s=n.data?.total??0;return r`<fieldset class="panel stack">
    <legend>Which semaphores</legend>
    <div class="form">
      <${P} label="Names" area=${4} value=${e.names} onInput=${e.setNames} disabled=${e.everything} placeholder="nightly-*" help="One name or glob per line." class="full" data-search />
      <${P} label="Labels" value=${e.labels} onInput=${e.setLabels} disabled=${e.everything} placeholder="team=data,tier!=test" help="Names and labels must both match." />
      <${le} label="Every semaphore" checked=${e.everything} onChange=${e.setEverything} />
    </div>
    ${e.error&&r`<${H} error=${e.error} />`}
    ${n.error&&!n.error.offline&&r`<${H} error=${n.error} />`}
    <p role="status" class="faint">
      ${e.given?n.data?`${D(s,"semaphore","semaphores")} chosen${o.length?`: ${Pe(o.map(a=>a.definition.name),4)}${s>4?" …":""}`:""}`:"Reading …":t??"Choose some, or every one."}
    </p>
  </fieldset>`}function On({of:e,onAgain:t}){return r`<section class="panel stack" aria-label="What was done">
    <h2>${e.text}</h2>
    <${Zo} key=${e.change} change=${e.change} effects=${e.effects} />
    <p class="row">
      <a class="button" href=${`/activity?change=${e.change}`}>Change ${e.change}</a>
      <${q} role=${e.role} onClick=${()=>Ze(e.change)}>Undo …<//>
      <button type="button" onClick=${t}>Another one</button>
    </p>
  </section>`}function An(){let[e,t]=$(null);return[e,(o,s)=>(a,i)=>{let l=a.change??a.revision??a.cordon?.revision;l&&l!=="0"&&t({text:o,role:s,change:l,effects:a.effects?.length?a.effects:i.effects??[]})},()=>t(null)]}function cr({id:e}){let t=E(o=>be("/v1/known",{},"callers",o,5e3),["known"]),n=[...new Set((t.data?.items??[]).map(o=>o.group))].sort();return r`<datalist id=${e}>${n.map(o=>r`<option value=${o} />`)}</datalist>`}function Hs({of:e}){let t=(e.not_moved??[]).filter(o=>o.problem),n=(e.not_moved??[]).length-t.length;return r`
    <p class="lead">${e.moves?.length?`${D(e.moves.length,"semaphore moves","semaphores move")}.`:e.mistake?"":"There is nothing to move."}${n>0&&r`<span class="faint"> ${b(n)} need no move.</span>`}</p>
    ${e.mistake&&r`<p class="note">${e.mistake}</p>`}
    ${e.doubts?.length>0&&r`<div class="failure" role="alert"><p class="failure-text">This move is likely a mistake.</p><ul>${e.doubts.map(o=>r`<li>${o}</li>`)}</ul></div>`}
    ${t.length>0&&r`<div class="warnings"><p>${D(t.length,"semaphore has","semaphores have")} to be moved by hand:</p>
      <ul>${t.slice(0,20).map(o=>r`<li><a href=${`/s/${encodeURIComponent(o.semaphore)}?tab=rule`}>${o.semaphore}</a>: ${o.why}</li>`)}</ul></div>`}`}function Ws(){let e=ir(),[t]=j(),[n,o]=$({from:t.get("from")??"",to:t.get("to")??"",drain:""}),[s,a]=$(!1),[i,l,u]=An(),d=()=>({selector:e.given?e.selector:{all:!0},from_group:n.from.trim(),to_group:n.to.trim(),...De(n.drain),...fe()}),c=!n.from.trim()||!n.to.trim()?"Say from which group to which.":We(()=>De(n.drain));return i?r`<${On} of=${i} onAgain=${u} />`:r`<form class="stack" onSubmit=${h=>(h.preventDefault(),c||a(!0))}>
    <fieldset class="panel">
      <legend>From where to where</legend>
      <div class="form">
        <${P} label="From group" value=${n.from} onInput=${h=>o({...n,from:h})} list="move-groups" required />
        <${P} label="To group" value=${n.to} onInput=${h=>o({...n,to:h})} list="move-groups" required />
        <${Be} value=${n} set=${o} />
        <${cr} id="move-groups" />
      </div>
    </fieldset>
    <${lr} of=${e} optional="Every semaphore that admits the old group, and not the new one. Choose fewer by names or labels." />
    <p class="row end"><${q} role="ROLE_OPERATOR" type="submit" kind="primary" why=${c}>Preview the move …<//></p>
    ${s&&r`<${ge}
      title=${`Move from ${n.from} to ${n.to}`}
      verb=${h=>`Move ${D(h.moves?.length??0,"semaphore","semaphores")}`}
      role="ROLE_OPERATOR"
      preview=${async h=>C("/v1/move",{...d(),dry_run:!0},h)}
      extra=${h=>r`<${Hs} of=${h} />`}
      nothing=${h=>h.moves?.length?"":h.mistake||"There is nothing to move."}
      run=${async(h,m)=>C("/v1/move",{...d(),expected:m.digest,...h})}
      done=${h=>`${D(h.moves?.length??0,"semaphore","semaphores")} moved from ${n.from} to ${n.to}.`}
      onDone=${l(`Moved from ${n.from} to ${n.to}`,"ROLE_OPERATOR")}
      onClose=${()=>a(!1)}
    />`}
  </form>`}function ar({resume:e}){let t=ir(),[n,o]=$({lasts:"",until:"",stop:!1,drain:"",keep:!0}),[s,a]=$(!1),[i,l,u]=An(),d=()=>e?{selector:t.selector}:{selector:t.selector,...He(n),...n.keep&&{keep_paused:!0},...n.stop&&{stop:!0,...De(n.drain)}},c=t.given?We(()=>(He(n),De(n.drain))):"Choose some semaphores first.";if(i)return r`<${On} of=${i} onAgain=${u} />`;let h=e?"resume":"pause";return r`<form class="stack" onSubmit=${m=>(m.preventDefault(),c||a(!0))}>
    <${lr} of=${t} />
    ${!e&&r`<fieldset class="panel">
      <legend>How long, and what becomes of running work</legend>
      <div class="form">
        <${et} value=${n} set=${o} without="Empty: until it is resumed." />
        <${le} label="Stop holders too" checked=${n.stop} onChange=${m=>o({...n,stop:m})} help="Otherwise running work continues to its end." />
        ${n.stop&&r`<${Be} value=${n} set=${o} />`}
        <${le} label="Leave paused ones as they are" checked=${n.keep} onChange=${m=>o({...n,keep:m})} help="Otherwise this pause replaces theirs, also when it ends." />
      </div>
    </fieldset>`}
    <p class="row end"><${q} role="ROLE_OPERATOR" type="submit" kind="primary" why=${c}>${e?"Preview …":"Preview the pause …"}<//></p>
    ${s&&r`<${ge}
      title=${e?"Resume":"Pause"}
      verb=${e?"Resume":"Pause"}
      role="ROLE_OPERATOR"
      preview=${async m=>C("/v1/preview",{[h]:d()},m)}
      run=${async(m,p)=>C(`/v1/${h}`,{...d(),expected:p.digest,...m})}
      done=${m=>`${D(m.names?.length??0,"semaphore","semaphores")} ${h}d.`}
      onDone=${(m,p)=>l(`${D(m.names?.length??0,"semaphore","semaphores")} ${h}d`,"ROLE_OPERATOR")(m,p)}
      onClose=${()=>a(!1)}
    />`}
  </form>`}function Bs(){let[e]=j(),[t,n]=$({group:e.get("group")??"",acquirer:e.get("acquirer")??"",lasts:"",until:"",drain:""}),[o,s]=$(!1),[a,i,l]=An(),u=()=>({...t.group.trim()&&{group_pattern:t.group.trim()},...t.acquirer.trim()&&{acquirer_pattern:t.acquirer.trim()},...He(t),...De(t.drain)}),d=!t.group.trim()&&!t.acquirer.trim()?"Say whom to shut out.":We(()=>u());return a?r`<${On} of=${a} onAgain=${l} />`:r`<form class="stack" onSubmit=${c=>(c.preventDefault(),d||s(!0))}>
    <p>A cordon shuts a group or a host out of every semaphore, for example while it is patched.</p>
    <fieldset class="panel">
      <legend>Whom, and for how long</legend>
      <div class="form">
        <${P} label="Group pattern" value=${t.group} onInput=${c=>n({...t,group:c})} list="cordon-groups" help="A caller is caught when either pattern matches." />
        <${P} label="Acquirer pattern" value=${t.acquirer} onInput=${c=>n({...t,acquirer:c})} placeholder="host-3" />
        <${et} value=${t} set=${n} without="Empty: until it is ended." />
        <${Be} value=${t} set=${n} />
        <${cr} id="cordon-groups" />
      </div>
    </fieldset>
    <p class="row end"><${q} role="ROLE_OPERATOR" type="submit" kind="primary" why=${d}>Preview the cordon …<//></p>
    ${o&&r`<${ge}
      title="Cordon"
      verb="Cordon"
      role="ROLE_OPERATOR"
      preview=${async c=>C("/v1/preview",{cordon:u()},c)}
      run=${async c=>C("/v1/cordon",{...u(),...c})}
      done=${c=>`Cordon ${c.cordon?.id} is in force.`}
      onDone=${(c,h)=>i(`Cordon ${c.cordon?.id} is in force`,"ROLE_OPERATOR")(c,h)}
      onClose=${()=>s(!1)}
    />`}
  </form>`}function ur(){oe("Move and pause");let[e]=j(),t=e.get("do")??"move";return r`<${Z}>Move and pause<//>
    <${Ue} />
    <${st} of=${Us} query="do" label="What to do" />
    ${t==="pause"?r`<${ar} key="pause" />`:t==="resume"?r`<${ar} key="resume" resume />`:t==="cordon"?r`<${Bs} />`:t==="move"?r`<${Ws} />`:r`<${R} title="There is no such form." />`}`}var pr=e=>e.all?"every semaphore":e.labels?`semaphores with ${e.labels}`:Pe(e.names??[]),dr=e=>e.names?.length===1?e.names[0]:"";function mr({selector:e,onClose:t,onDone:n}){let[o,s]=$({lasts:"",until:"",stop:!1,drain:""}),a=()=>({selector:e,...He(o),...o.stop?{stop:!0,...De(o.drain)}:{}});return r`<${ge}
    title=${`Pause ${pr(e)}`}
    verb="Pause"
    role="ROLE_OPERATOR"
    semaphore=${dr(e)}
    deps=${o}
    preview=${async i=>C("/v1/preview",{pause:a()},i)}
    run=${async(i,l)=>C("/v1/pause",{...a(),expected:l.digest,...i})}
    done=${i=>`${D(i.names?.length??0,"semaphore","semaphores")} paused.`}
    onClose=${t}
    onDone=${n}
  >
    <p>Nobody gets a permit until the pause ends. The queue keeps its places.</p>
    <div class="form">
      <${et} value=${o} set=${s} without="Empty: until it is resumed." />
      <${le} label="Stop holders too" checked=${o.stop} onChange=${i=>s({...o,stop:i})} help="Otherwise running work continues to its end." />
      ${o.stop&&r`<${Be} value=${o} set=${s} />`}
    </div>
  <//>`}function fr({selector:e,onClose:t,onDone:n}){return r`<${ge}
    title=${`Resume ${pr(e)}`}
    verb="Resume"
    role="ROLE_OPERATOR"
    semaphore=${dr(e)}
    preview=${async o=>C("/v1/preview",{resume:{selector:e}},o)}
    run=${async(o,s)=>C("/v1/resume",{selector:e,expected:s.digest,...o})}
    done=${o=>o.names?.length?`${D(o.names.length,"semaphore","semaphores")} resumed.`:"Nothing was paused."}
    onClose=${t}
    onDone=${n}
  />`}function hr({name:e}){let[t,n]=j(),o={group:t.get("group")??"",acquirer:t.get("acquirer")??"",weight:t.get("weight")??"",worker:t.get("worker")??""},[s,a]=$(o),l=E(m=>T("/v1/known",{page_size:1e3},m),["known"]).data?.callers??[],u={identity:{group:o.group,acquirer:o.acquirer},...o.weight&&{weight:Number(o.weight)},...o.worker&&{worker:!0}},d=E(o.acquirer?m=>C(ie`/v1/semaphores/${e}:explain`,u,m):null,["explain",e,o],{keep:!0,every:5e3}),c=m=>{m.preventDefault(),n(s),d.refresh()},h=m=>p=>a({...s,[m]:p});return r`<section class="panel">
    <h2>Would this caller get a permit?</h2>
    <form class="form" onSubmit=${c}>
      <${P} label="Group" value=${s.group} onInput=${h("group")} list="known-groups" placeholder="default" help="Where the caller runs: a zone, a site." />
      <${P} label="Acquirer" value=${s.acquirer} onInput=${h("acquirer")} list="known-acquirers" required help="Who asks, normally a host." />
      <${P} label="Weight" type="number" min="1" value=${s.weight} onInput=${h("weight")} placeholder="1" />
      <${le} label="It is a worker" checked=${s.worker==="1"} onChange=${m=>h("worker")(m?"1":"")} help="It asks for a task." />
      <datalist id="known-groups">${[...new Set(l.map(m=>m.group))].map(m=>r`<option value=${m} />`)}</datalist>
      <datalist id="known-acquirers">${[...new Set(l.map(m=>m.acquirer))].map(m=>r`<option value=${m} />`)}</datalist>
      <p class="row full"><button class="primary">Explain</button></p>
    </form>
    ${d.error&&!d.error.offline&&r`<${H} error=${d.error} />`}
    ${o.acquirer&&!d.data&&!d.error&&r`<${he} what="Asking" />`}
    ${d.data&&r`<${Ks} of=${d.data} />`}
  </section>`}function Ks({of:e}){let t=!e.reason||e.reason==="REASON_UNSPECIFIED";return r`<div class="stack" role="status">
    <p class="lead tone-${t?"run":"deny"}"><strong>${t?"It would get a permit.":`Denied: ${A(e.reason,"REASON_")}.`}</strong> ${e.summary}</p>
    ${e.recovering&&r`<p class="note">Nothing is granted for another ${Math.ceil(N(e.recovering)/1e3)} s: a recovery of the cluster is being waited out.</p>`}
    <ol class="steps">
      ${(e.steps??[]).map(n=>r`<li key=${n.number}>
        <span class="step-mark tone-${n.passed?"run":"deny"}"><span aria-hidden="true">${n.passed?"✓":"✗"}</span><span class="sr-only">${n.passed?"passed":"failed"}</span></span>
        <span class="step-name">${n.number} ${n.name}</span><span>${n.text}</span>
      </li>`)}
    </ol>
    ${e.holders?.length>0&&r`<p>Taken by ${e.holders.slice(0,5).map((n,o)=>r`${o?", ":""}${F(n.identity)} for <${ce} at=${n.granted_at} />`)}${(e.holder_count??0)>5&&` and ${b(e.holder_count-5)} more`}.</p>`}
    ${e.waiter_count>0&&r`<p>${D(e.waiter_count,"caller waits","callers wait")} in the queue.</p>`}
    ${e.why_tasks_wait&&r`<p>${e.why_tasks_wait}</p>`}
  </div>`}var zs={claimed:"accent",done:"run",spent:"stop",failed:"deny","cut short":"stop",open:"wait",forgotten:"idle"};async function Vs(e,t){let n="",o,s=[];do o=await T("/v1/firings",{semaphore:e,page_size:1e3,page_token:n},t),s.push(...o.firings??[]),n=o.next_page_token??"";while(n&&s.length<2e4);return{...o,firings:s.reverse()}}function $r({name:e,events:t}){let n=E(u=>Vs(e,u),["firings",e,t],{keep:!0}),[o,s]=$(null),[a,i]=$(100),l=o&&{semaphore:e,firings:[o.firing],...fe()};return r`<section class="panel">
    <h2>Firings</h2>
    <${W} of=${n} what="Reading the firings">
      ${u=>r`
        <p class="faint">${b(u.count)} remembered, at most ${b(u.limit)}.${u.forgotten_up_to&&` Those due until ${L(u.forgotten_up_to)} that are not listed count as forgotten.`}</p>
        <${K}
          caption="Firings"
          rows=${u.firings.slice(0,a)}
          rowKey=${d=>je(d.firing)}
          empty=${r`<${R} title="No firing is remembered.">A caller that names its firing, as gkctl run --firing does, is remembered here.<//>`}
          columns=${[["Firing",d=>je(d.firing),"name"],["State",d=>r`<span class="tag tone-${zs[A(d.state,"FIRING_STATE_")]??"idle"}">${A(d.state,"FIRING_STATE_")}</span>`],["Who",d=>d.winner?F(d.winner):"–","name"],["Claimed at",d=>L(d.claimed_at)||"–","num"],["Attempts",d=>b(d.attempts),"num"],["Failure",d=>d.failure||"–"],["",d=>r`<${q} role="ROLE_OPERATOR" semaphore=${e} onClick=${()=>s(d)}>Forget …<//>`,"end"]]}
        />
        ${u.firings.length>a&&r`<button type="button" onClick=${()=>i(a*5)}>Show more</button>`}`}
    <//>
    ${o&&r`<${ge}
      title=${`Forget ${je(o.firing)}`}
      verb="Forget it"
      kind="danger"
      role="ROLE_OPERATOR"
      semaphore=${e}
      preview=${u=>C("/v1/firings:forget",{...l,dry_run:!0},u)}
      run=${(u,d)=>C("/v1/firings:forget",{...l,plan:d.plan,...u})}
      done=${()=>`${je(o.firing)} is forgotten.`}
      onDone=${n.refresh}
      onClose=${()=>s(null)}
    ><p>A forgotten firing can run again, even if its job has run.</p><//>`}
  </section>`}function gr({name:e,events:t,onChange:n}){let[o,s]=j(),a=o.get("permits")==="1",[i,l]=$(50),u=E(d=>T("/v1/history",{names:[e],permits:a,page_size:i},d),["history",e,a,i,t],{keep:!0});return r`<section class="panel">
    <div class="title"><h2>History</h2>
      <${le} label="Also how permits ended" checked=${a} onChange=${d=>s({permits:d?"1":""})} />
    </div>
    <${W} of=${u} what="Reading the journal">
      ${d=>r`
        ${d.entries?.length?r`<${_t} entries=${d.entries} semaphore=${e} onChange=${n} />`:r`<${R} title="The journal has nothing of it." />`}
        ${d.next_page_token&&i<1e3&&r`<p class="row"><button type="button" onClick=${()=>l(Math.min(1e3,i*4))}>Show more</button></p>`}`}
    <//>
  </section>`}var In=[["1h",36e5],["6h",6*36e5],["24h",24*36e5],["7d",168*36e5]],Nn=4,_r=12,Js={released:"run",expired:"stop",abandoned:"idle",cancelled:"idle",cleared:"stop","freed unsafely":"deny",superseded:"idle"};function vr({name:e,permits:t,events:n}){let[o,s]=j(),a=In.find(([u])=>u===o.get("span"))??In[0];Oe();let i=Date.now()-a[1],l=E(u=>T("/v1/history",{names:[e],permits:!0,since:new Date(Date.now()-a[1]).toISOString(),page_size:1e3},u),["timeline",e,a[0],n],{keep:!0});return r`<section class="panel">
    <div class="title"><h2>Who held it when</h2>
      <div class="row" role="group" aria-label="Span of time">
        ${In.map(([u])=>r`<button type="button" key=${u} aria-pressed=${u===a[0]} onClick=${()=>s({span:u==="1h"?"":u})}>${u}</button>`)}
      </div>
    </div>
    <${W} of=${l} what="Reading the journal">
      ${u=>r`<${Gs} entries=${u.entries??[]} permits=${t} from=${i} to=${Date.now()} more=${u.next_page_token} />`}
    <//>
  </section>`}function Gs({entries:e,permits:t,from:n,to:o,more:s}){let a=[...t.map(c=>({who:F(c.identity),from:Date.parse(c.granted_at),to:o,how:"holds it now",tone:c.stop?"stop":"accent",token:c.token})),...e.filter(c=>c.permit&&c.kind!=="EVENT_KIND_GRANTED"&&c.permit.granted_at).map(c=>{let h=A(c.permit.ended,"PERMIT_END_")||A(c.kind,"EVENT_KIND_");return{who:F(c.permit.identity),from:Date.parse(c.permit.granted_at),to:Date.parse(c.permit.ended_at??c.at),how:h,tone:Js[h]??"idle",token:c.permit.token}})],i=new Set,l=new Map;for(let c of a)i.has(c.token)||c.to<n||(i.add(c.token),l.set(c.who,[...l.get(c.who)??[],c]));if(l.size===0)return r`<${R} title="Nobody held it in this time." />`;let u=c=>1e3*(Math.max(c,n)-n)/(o-n),d=e.filter(c=>!c.permit&&Date.parse(c.at)>=n);return r`<div class="timeline">
    ${[...l].slice(0,_r).map(([c,h])=>{let m=h[0],p=`${c}: ${D(h.length,"permit","permits")}, the last from ${L(m.from)}, ${m.how}`;return r`<div class="lane" key=${c}>
        <span class="lane-name">${c}</span>
        <svg viewBox="0 0 1000 18" preserveAspectRatio="none" role="img" aria-label=${p}>
          <rect class="track" width="1000" height="18" />
          ${h.map(f=>r`<rect key=${f.token} class="fill-${f.tone}" x=${u(f.from)} y="2" height="14" width=${Math.max(1.5,u(f.to)-u(f.from))}>
            <title>${`${f.who}: ${L(f.from)}, ${f.how} after ${X(f.to-f.from)}, token ${f.token}`}</title>
          </rect>`)}
          ${d.map(f=>r`<line key=${f.revision} class="mark" x1=${u(Date.parse(f.at))} x2=${u(Date.parse(f.at))} y1="0" y2="18"><title>${`${A(f.kind,"EVENT_KIND_")} by ${f.author??"–"} at ${L(f.at)}`}</title></line>`)}
        </svg>
      </div>`})}
    <div class="lane axis" aria-hidden="true">
      <span class="lane-name"></span>
      <span class="ticks num">${Array.from({length:Nn+1},(c,h)=>r`<span key=${h}>${h===Nn?"now":rt(n+(o-n)*h/Nn).slice(0,-3)}</span>`)}</span>
    </div>
    ${(l.size>_r||s)&&r`<p class="faint">Not everything fits here. <a href="?tab=history&permits=1">The history has all of it.</a></p>`}
  </div>`}function Qs({permit:e,onClose:t,onDone:n}){let[o,s]=$({reason:"",drain:"",unsafe:!1}),[a,i]=$(null),[l,u]=$(!1);return r`<${ue} title="Revoke a permit" onClose=${t}>
    <form onSubmit=${async c=>{if(c.preventDefault(),!l){u(!0);try{let h={reason:o.reason,...fe()};o.drain.trim()&&(h.drain=Te(o.drain)),o.unsafe&&(h.unsafe_now=!0),await C(ie`/v1/permits/${e.token}:revoke`,h),_e(`The permit of ${F(e.identity)} is revoked.`),n(),t()}catch(h){i(h),u(!1)}}}}>
      <p>${F(e.identity)} must stop. Its refreshes are refused from now on, and its slot is free when it releases, or at its deadline.</p>
      <${P} label="Reason" value=${o.reason} onInput=${c=>s({...o,reason:c})} maxlength="1024" />
      <${P} label="Drain" placeholder="2m" value=${o.drain} onInput=${c=>s({...o,drain:c})} error=${We(()=>Te(o.drain))} help="How long it may continue. Empty: not at all." />
      <${le} label="Free the slot at once" checked=${o.unsafe} onChange=${c=>s({...o,unsafe:c})}
        help="Unsafe: the holder may still run, and then two run at the same time. Only a fencing token protects what they write." />
      <${H} error=${a} />
      <p class="row end">
        <button type="button" onClick=${t}>Cancel</button>
        <button class=${o.unsafe?"danger":"primary"}>${l?"Working …":o.unsafe?"Revoke and free the slot":"Revoke"}</button>
      </p>
    </form>
  <//>`}function Ys({permit:e,onClose:t,onDone:n}){let[o,s]=$(""),[a,i]=$(null);return r`<${ue} title="Clear a slot" onClose=${t}>
    <form onSubmit=${u=>{u.preventDefault(),C(ie`/v1/permits/${e.token}:clear`,{reason:o,...fe()}).then(()=>{_e("The slot is free."),n(),t()},i)}}>
      <p>The permit of ${F(e.identity)} expired, and its slot is held. Clear it when you know that its job does not run any more.</p>
      <${P} label="Reason" value=${o} onInput=${s} maxlength="1024" />
      <${H} error=${a} />
      <p class="row end"><button type="button" onClick=${t}>Cancel</button><button class="primary">Clear the slot</button></p>
    </form>
  <//>`}var Xs=e=>Object.entries(e??{}).map(([t,n])=>`${t}=${n}`).join(", ");function Zs({permits:e,onChange:t}){let[n,o]=$(null),s=()=>o(null);return r`<section class="panel">
    <h2>Holders</h2>
    <${K}
      caption="Holders"
      rows=${e}
      rowKey=${a=>a.token}
      empty=${r`<${R} title="Nobody holds a permit." />`}
      columns=${[["Holder",a=>r`${F(a.identity)}${a.identity?.holder_id&&r`<div class="sub">${a.identity.holder_id}</div>`}`,"name"],["State",a=>r`<span class="tone-${Ao(a)}">${Oo(a)}</span>`],["Since",a=>r`<${ce} at=${a.granted_at} />`,"num"],["Time left",a=>r`<${qt} at=${a.deadline} of=${N(a.duration)} />`,"num"],["Weight",a=>b(a.weight),"num"],["Token",a=>a.token,"num"],["For",a=>[je(a.firing),Xs(a.metadata)].filter(Boolean).join("; ")||"–"],["",a=>a.state==="PERMIT_STATE_HELD"?r`<${q} role="ROLE_OPERATOR" semaphore=${a.semaphore} onClick=${()=>o({clear:a})}>Clear …<//>`:a.state==="PERMIT_STATE_COOLING"?null:r`<${q} role="ROLE_OPERATOR" semaphore=${a.semaphore} group=${a.identity?.group} acquirer=${a.identity?.acquirer} onClick=${()=>o({revoke:a})}>Revoke …<//>`,"end"]]}
    />
    ${n?.revoke&&r`<${Qs} permit=${n.revoke} onClose=${s} onDone=${t} />`}
    ${n?.clear&&r`<${Ys} permit=${n.clear} onClose=${s} onDone=${t} />`}
  </section>`}function ea({data:e}){let t=n=>new Date(e.at-N(n.waiting)).toISOString();return r`<section class="panel">
    <h2>Queue</h2>
    <${K}
      caption="Waiters"
      rows=${e.waiters}
      rowKey=${n=>`${n.request_id}/${n.place}`}
      empty=${r`<${R} title="Nobody waits." />`}
      columns=${[["Place",n=>n.place||"idle worker","num"],["Waiter",n=>F(n.identity),"name"],["Weight",n=>b(n.weight),"num"],["Waiting for",n=>r`<${ce} at=${t(n)} />`,"num"]]}
      note=${e.next_page_token&&"More wait than are shown here."}
    />
    ${(e.tasks??[]).map(n=>r`<p key=${n.job}><a href=${`/jobs/${encodeURIComponent(n.job)}`}>${n.job}</a>: ${b(n.tasks)} tasks wait for a worker.</p>`)}
  </section>`}var ta=e=>`?${new URLSearchParams({tab:"explain",group:e.identity?.group??"",acquirer:e.identity?.acquirer??""})}`;function na({rows:e,caption:t}){return r`<${K}
    caption=${t}
    rows=${e}
    rowKey=${n=>`${n.semaphore} ${F(n.identity)}`}
    columns=${[["Caller",n=>F(n.identity),"name"],["Why",n=>r`${n.message}<div class="sub">${A(n.reason,"REASON_")}${n.let_in&&`; ${F(n.let_in)} was let in, so it may be a standby`}${n.cured&&"; would not be denied now"}</div>`],["Times",n=>b(n.count),"num"],["Last",n=>r`<span title=${L(n.last)}><${ce} at=${n.last} /> ago</span>`,"num"],["",n=>r`<a href=${n.semaphore?ta(n):void 0}>Explain</a>`,"end"]]}
  />`}function oa({name:e,events:t}){let n=E(o=>T("/v1/denied",{names:[e],cured:!0},o),["denied",e,t],{every:1e4,keep:!0});return r`<section class="panel">
    <h2>Denied</h2>
    <${W} of=${n} what="Reading who was denied">
      ${o=>r`
        ${o.callers?.length?r`<${na} rows=${o.callers} caption="Callers that were denied" />`:r`<${R} title="Nobody is denied.">Callers show here when waiting does not help them${o.since?`; remembered since ${L(o.since)}`:""}.<//>`}
        ${o.misspelled?.length>0&&r`<h3>They may mean this semaphore</h3>
          <ul>${o.misspelled.map(s=>r`<li>${F(s.identity)} asks for <code>${s.semaphore}</code>, which does not exist.</li>`)}</ul>`}`}
    <//>
  </section>`}function br({name:e,of:t}){return r`<div class="stack">
    <${W} of=${t.holders} what="Reading who holds it">${n=>r`<${Zs} permits=${n} onChange=${t.read} />`}<//>
    <${vr} name=${e} permits=${t.holders.data??[]} events=${t.events} />
    <div class="panels">
      <${W} of=${t.waiters} what="Reading the queue">${n=>r`<${ea} data=${n} />`}<//>
      <${oa} name=${e} events=${t.events} />
    </div>
  </div>`}function zt(e={}){let t={};for(let n of $e){let o=e[n.name];switch(n.kind){case"labels":t[n.name]=Object.keys(o??{}).sort().map(s=>o[s]===""?s:`${s}=${o[s]}`).join(`
`);break;case"duration":t[n.name]=Xe(o);break;case"flag":t[n.name]=o?"yes":"no";break;case"choice":t[n.name]=Fe(n,e);break;default:t[n.name]=String(o??(n.kind==="number"&&n.name==="max_attempts"?0:""))}}return t}function yr(e,t={}){let n={...t},o={};for(let s of $e){let a=e[s.name]??"";try{let i=ra(s,a);i===void 0?delete n[s.name]:n[s.name]=i}catch(i){o[s.name]=i.message}}return{definition:n,errors:o}}function ra(e,t){switch(e.kind){case"labels":{let n={};for(let o of t.split(`
`).map(s=>s.trim()).filter(Boolean)){let s=o.indexOf("="),a=(s<0?o:o.slice(0,s)).trim();if(!a)throw new Error(`“${o}” has no key. Write key=value.`);if(Object.hasOwn(n,a))throw new Error(`The key ${a} stands here twice.`);Object.defineProperty(n,a,{value:s<0?"":o.slice(s+1).trim(),enumerable:!0})}return n}case"duration":return Te(t);case"number":{if(t.trim()==="")return;if(!/^\d+$/.test(t.trim()))throw new Error(`“${t}” is not a whole number.`);return Number(t)}case"flag":return t==="yes";case"choice":return e.prefix+t.toUpperCase();case"pattern":if(t==="")throw new Error("An empty pattern would let nobody in. .* lets everybody in.");return t}return t}function wr(e,t,n){let o={},s=[],a=[];for(let i of $e){let[l,u,d]=[e[i.name],t[i.name],n[i.name]];o[i.name]=u===l?d:u,u!==l&&d!==l&&u!==d&&(s.push(i.name),o[i.name]=d),(u!==l||d!==l)&&a.push({field:i,base:l,mine:u,theirs:d})}return{merged:o,conflicts:s,rows:a}}function kr({of:e,base:t,onMerged:n,onCancel:o}){let{theirs:s,conflicts:a,rows:i}=e,[l,u]=$({}),d=a.filter(m=>!l[m]),c=()=>{let m={...e.merged};for(let p of i)l[p.field.name]&&(m[p.field.name]=p[l[p.field.name]]);n(m)},h=m=>{let p=m.field.name;if(!a.includes(p))return m.mine===m.theirs?r`<${Wt}>the same<//>`:m.mine!==m.base?r`<${Wt} tone="accent">yours<//>`:r`<${Wt} tone="wait">theirs<//>`;let f=(v,g)=>r`<label class="radio">
      <input type="radio" name=${`keep-${p}`} checked=${l[p]===v} onChange=${()=>u({...l,[p]:v})} /> ${g}
    </label>`;return r`<fieldset class="radios"><legend class="sr-only">Which ${m.field.label} to keep</legend>${f("mine","yours")}${f("theirs","theirs")}</fieldset>`};return r`<section class="panel conflict" aria-label="Conflict">
    <h2>Somebody else was faster</h2>
    <p role="alert">${s.updated_by||"Somebody"} saved version ${s.version} at ${L(s.updated_at)}${s.reason&&` (${s.reason})`}. You began
      with version ${t?.version??"–"}. Nothing of yours is saved yet, and nothing is lost.</p>
    <${K}
      caption="Fields that differ"
      rows=${i}
      rowKey=${m=>m.field.name}
      columns=${[["Field",m=>m.field.label],["When you began",m=>r`<code>${m.base||"(none)"}</code>`],["Yours",m=>m.mine===m.base?r`<span class="faint">unchanged</span>`:r`<ins>${m.mine||"(none)"}</ins>`],["Theirs",m=>m.theirs===m.base?r`<span class="faint">unchanged</span>`:r`<ins class="theirs">${m.theirs||"(none)"}</ins>`],["Keep",h]]}
    />
    <p class="row end">
      <span class="grow" role="status">${d.length?`Choose for ${d.length===1?"1 field":`${d.length} fields`} that you both changed.`:"Everything is decided."}</span>
      <button type="button" onClick=${o}>Back to the form</button>
      <button type="button" class="primary" aria-disabled=${d.length?"true":void 0} onClick=${()=>d.length||c()}>Review the result …</button>
    </p>
  </section>`}var Mn=60;function Er({name:e,group:t,acquirer:n}){let[o,s]=$({group:t,acquirer:n});S(()=>{let p=setTimeout(()=>s({group:t,acquirer:n}),250);return()=>clearTimeout(p)},[t,n]);let a=E(p=>be("/v1/known",{},"callers",p,1e3),["known"]),i=E(o.group&&o.acquirer?async p=>{let f={name:`${e.slice(0,60)}~pattern-test`,group_pattern:o.group,acquirer_pattern:o.acquirer};return(await C("/v1/preview",{edits:{edits:[{create:f}]}},p)).effects?.[0]??{}}:null,["patterns",o],{keep:!0}),l=a.data?.items??[],u=i.data?.eligible??i.data?.total_admitted??0,d=new Set((i.data?.admitted??[]).map(p=>`${p.acquirer} in ${p.group}`)),c=i.error&&!i.error.offline?i.error.fields?.[0]?.rule??i.error.message:"",h=d.size>=u,m=[...l].sort((p,f)=>d.has(`${f.acquirer} in ${f.group}`)-d.has(`${p.acquirer} in ${p.group}`));return r`<div class="pattern-test full" aria-live="polite">
    ${c?r`<p class="error">${c}</p>`:l.length===0?r`<p class="faint">Nobody was seen asking yet, so the patterns cannot be tried on anybody.</p>`:r`<p><strong class=${u?"tone-run":"tone-deny"}>These patterns let in ${u?b(u):"none"} of ${D(l.length,"known caller","known callers")}${a.data?.more?" and more":""}.</strong></p>
            <ul class="chips">${m.slice(0,Mn).map(p=>{let f=`${p.acquirer} in ${p.group}`,v=d.has(f);return!v&&!h?null:r`<li key=${f} class=${v?"in":"out"}><span aria-hidden="true">${v?"✓":"✗"}</span><span class="sr-only">${v?"let in: ":"not let in: "}</span>${f}</li>`})}${l.length>Mn&&r`<li class="out">and ${b(l.length-Mn)} more</li>`}</ul>`}
  </div>`}var xr={group_pattern:".*",acquirer_pattern:".*",permits:1,duration:"60s"};function Tr({name:e,record:t,onSaved:n}){let[o,s]=j();if(o.get("edit")==="1"||!t)return r`<${sa} name=${e} record=${t} onSaved=${n} onDone=${()=>s({edit:""})} />`;let i=t.definition;return r`<section class="panel">
    <div class="title"><h2>Rule</h2>
      <${q} role="ROLE_EDITOR" semaphore=${e} kind="primary" onClick=${()=>s({edit:"1"},{replace:!1})}>Edit<//>
    </div>
    <${Ce} of=${$e.map(l=>[l.label,Fe(l,i)&&(l.kind==="pattern"?r`<code>${Fe(l,i)}</code>`:Fe(l,i))])} />
    <p class="faint">Version ${t.version}, ${L(t.updated_at)}${t.updated_by&&`, by ${t.updated_by}`}${t.reason&&`: ${t.reason}`}</p>
  </section>`}var Vt=["firing_on_loss","firing_retention","firing_limit","firing_max_ahead","max_attempts","misfire","misfire_window"];function sa({name:e,record:t,onSaved:n,onDone:o}){let[s,a]=$(t),[i,l]=$(()=>zt(t?.definition??xr)),[u,d]=$({}),[c,h]=$(!1),[m,p]=$(null),[f,v]=$({}),g=pe(()=>zt(s?.definition??xr),[s]),{definition:x,errors:y}=yr(i,s?.definition??{name:e}),I=!s||$e.some(_=>i[_.name]!==g[_.name]),M=Object.keys(y).length>0,k=t&&s&&t.version!==s.version?t:null;S(()=>{if(!I||!s)return;let _=U=>U.preventDefault();return addEventListener("beforeunload",_),()=>removeEventListener("beforeunload",_)},[I]);let J=_=>U=>{l(O=>({...O,[_]:U})),v(O=>({...O,[_]:void 0}))},ae=s?{replace:x,expected_version:s.version}:{create:{...x,name:e}},re=()=>({edits:[ae],...De(u.drain),...s?He(u):{}}),se=_=>p({theirs:_,...wr(g,i,zt(_.definition))}),G=_=>{if(_.reason==="STALE_VERSION")return T(ie`/v1/definitions/${e}`).then(O=>se(O.record),O=>_e(O.message,{tone:"deny"})),!0;let U=_.fields?.filter(O=>$e.some(z=>O.field.endsWith(z.name)))??[];return U.length===0?!1:(v(Object.fromEntries(U.map(O=>[$e.find(z=>O.field.endsWith(z.name)).name,O.rule]))),!0)},Y=_=>{let U=y[_.name]??f[_.name],O=i[_.name],z={key:_.name,label:_.label,help:_.help,error:U,class:O!==g[_.name]?"changed":""};if(_.kind==="flag")return r`<${le} ...${z} checked=${O==="yes"} onChange=${Ke=>J(_.name)(Ke?"yes":"no")} />`;if(_.kind==="choice")return r`<${xe} ...${z} value=${O} onChange=${J(_.name)} options=${_.values.map(Ke=>[Ke.toLowerCase(),Ke.toLowerCase()])} />`;let ne=_.kind==="labels"?3:_.name==="description"?2:void 0;return r`<${P} ...${z} value=${O} onInput=${J(_.name)} area=${ne} name=${_.name} inputmode=${_.kind==="number"?"numeric":void 0} />`},w=_=>{_.preventDefault(),!M&&I&&h(!0)};return m?r`<${kr}
      of=${m}
      base=${s}
      onCancel=${()=>p(null)}
      onMerged=${_=>{a(m.theirs),l(_),p(null),h(!0)}}
    />`:r`<section class="panel">
    <div class="title"><h2>${s?"Edit the rule":"Create this semaphore"}</h2></div>
    ${k&&r`<p class="note" role="alert">${k.updated_by||"Somebody"} saved another version at ${L(k.updated_at)}, while you edit.
      <button type="button" onClick=${()=>se(k)}>Compare and merge</button></p>`}
    <form onSubmit=${w}>
      <div class="form">
        ${$e.filter(_=>!Vt.includes(_.name)&&_.kind!=="pattern"&&["description","labels"].includes(_.name)).map(Y)}
        ${$e.filter(_=>_.kind==="pattern").map(Y)}
        <${Er} name=${e} group=${i.group_pattern} acquirer=${i.acquirer_pattern} />
        ${$e.filter(_=>!Vt.includes(_.name)&&_.kind!=="pattern"&&!["description","labels"].includes(_.name)).map(Y)}
      </div>
      <details open=${Vt.some(_=>i[_]!==g[_]||y[_])}>
        <summary>Firings</summary>
        <div class="form">${$e.filter(_=>Vt.includes(_.name)).map(Y)}</div>
      </details>
      <p class="row end sticky-end">
        ${I&&r`<span class="grow faint">Nothing is saved yet.</span>`}
        ${s&&r`<button type="button" onClick=${o}>${I?"Discard":"Back"}</button>`}
        <${q} role="ROLE_EDITOR" semaphore=${e} type="submit" kind="primary" why=${M?"A field has a mistake.":I?"":"Nothing was changed."}>Review and save …<//>
      </p>
    </form>
    ${c&&r`<${ge}
      title=${s?`Save ${e}`:`Create ${e}`}
      verb=${s?"Save":"Create"}
      role="ROLE_EDITOR"
      semaphore=${e}
      deps=${u}
      preview=${async _=>C("/v1/preview",{edits:re()},_)}
      run=${async _=>C("/v1/definitions:edit",{...re(),..._})}
      done=${_=>`${e} is ${s?"saved":"created"}, as change ${_.revision}.`}
      onError=${G}
      onClose=${()=>h(!1)}
      onDone=${()=>{n(),o()}}
    >
      ${s&&r`<details><summary>Only for a time, or with a drain</summary>
        <div class="form"><${et} value=${u} set=${d} without="Then the old values come back. Empty: for good." /><${Be} value=${u} set=${d} /></div>
      </details>`}
    <//>`}
  </section>`}function Sr({name:e,events:t}){let n=E(s=>T("/v1/jobs",{semaphore:e,page_size:200},s),["jobs",e,t],{every:5e3,keep:!0}),o=E(s=>T("/v1/workers",{semaphore:e},s),["workers",e,t],{every:5e3,keep:!0});return r`<div class="stack">
    <section class="panel"><h2>Jobs</h2>
      <${W} of=${n} what="Reading the jobs">
        ${s=>s.jobs?.length?r`<${xn} jobs=${s.jobs} />`:r`<${R} title="It has no jobs.">Submit one with gkctl job submit.<//>`}
      <//>
    </section>
    <section class="panel"><h2>Workers</h2>
      <${W} of=${o} what="Reading the workers">${s=>r`<${Tn} data=${s} />`}<//>
    </section>
  </div>`}var aa=[["now","Now"],["rule","Rule"],["history","History"],["firings","Firings"],["tasks","Tasks"],["explain","Explain"]],ia=(e,t)=>e.map(n=>({...n,deadline:n.expires_in?t+N(n.expires_in):0}));function la(e){let t=E(d=>T(ie`/v1/definitions/${e}`,{},d),["record",e],{every:15e3}),n=E(async d=>{let c=Date.now();return ia((await be("/v1/holders",{names:[e]},"permits",d)).items,c)},["holders",e],{every:15e3}),o=E(async d=>({at:Date.now(),...await T("/v1/waiters",{names:[e],page_size:200},d)}),["waiters",e],{every:5e3}),[s,a]=$(null),[i,l]=$(0),u=Ae(()=>{t.refresh(),n.refresh(),o.refresh(),l(d=>d+1)},40);return Se("/v1/watch",{names:[e],permits:!0,live_every:"1s"},{open:d=>d&&u(),missed:u,message:({events:d=[]})=>d.length&&u(),live(d){let c=((d.live??d).semaphores??[]).find(p=>p.semaphore===e),h=Date.now(),m=new Map((c?.deadlines??[]).map(p=>[p.token,h+N(p.expires_in)]));n.set(p=>p?.map(f=>m.has(f.token)?{...f,deadline:m.get(f.token)}:f)),s&&(c?.waiters??0)!==s.waiters&&o.refresh(),a({waiters:c?.waiters??0})}}),{record:t,holders:n,waiters:o,live:s,events:i,read:u}}function ca({record:e,onChange:t}){let[n,o]=$(""),s=e.definition.name,a=()=>o("");return r`
    ${e.pause?r`<${q} role="ROLE_OPERATOR" semaphore=${s} onClick=${()=>o("resume")}>Resume …<//>`:r`<${q} role="ROLE_OPERATOR" semaphore=${s} onClick=${()=>o("pause")}>Pause …<//>`}
    <a class="button" href=${`/move?names=${encodeURIComponent(s)}`}>Move …</a>
    <${q} role="ROLE_EDITOR" semaphore=${s} kind="danger" onClick=${()=>o("delete")}>Delete …<//>
    ${n==="pause"&&r`<${mr} selector=${{names:[s]}} onClose=${a} onDone=${t} />`}
    ${n==="resume"&&r`<${fr} selector=${{names:[s]}} onClose=${a} onDone=${t} />`}
    ${n==="delete"&&r`<${ge}
      title=${`Delete ${s}`}
      verb="Delete it"
      kind="danger"
      role="ROLE_EDITOR"
      semaphore=${s}
      preview=${i=>C("/v1/preview",{edits:{edits:[{delete:s,expected_version:e.version}]}},i)}
      run=${i=>C("/v1/definitions:edit",{edits:[{delete:s,expected_version:e.version}],...i})}
      done=${()=>`${s} is deleted.`}
      onDone=${()=>me("/")}
      onClose=${a}
    />`}`}function ua({record:e,holders:t,live:n}){let o=Number(e.used??0),s=e.definition.permits??0;return r`<dl class="figures">
    <div><dt>In use</dt><dd class="num">${b(o)}<span class="faint"> / ${b(s)}</span></dd>
      <dd><${ve} share=${s?o/s:o?1:0} label="${o} of ${s} permits in use" /></dd></div>
    <div><dt>Holders</dt><dd class="num">${b(t?.length??e.holders)}</dd></div>
    <div><dt>Queue</dt><dd class="num">${b(n?.waiters??e.waiters)}</dd></div>
  </dl>`}function Cr({name:e}){oe(e);let t=la(e),[n]=j(),o=n.get("tab")??"now",s=t.record.data?.record,a=t.record.error?.code==="NOT_FOUND",i=a&&!s;return r`
    <${Z} aside=${s&&r`<${ca} record=${s} onChange=${t.read} />`}>${e}<//>
    <${Ue} />
    ${a&&r`<p class="note">There is no definition of this name${s?" any more":""}. Its history and firings may still be known.</p>`}
    ${s&&!a&&r`<div class="standing">
      <p class="row">${gt(s).map(l=>r`<${vt} key=${l.value} value=${l.value} />`)}</p>
      ${jt(s).map(l=>r`<p class="note">${l}</p>`)}
      <${ua} record=${s} holders=${t.holders.data} live=${t.live} />
    </div>`}
    ${t.record.error&&!a&&!t.record.error.offline&&r`<${H} error=${t.record.error} retry=${t.record.refresh} />`}
    <${st} of=${aa} label="Parts of this semaphore" />
    ${!s&&!a?!t.record.error&&r`<${he} what="Reading the semaphore" />`:o==="rule"?r`<${Tr} key=${e} name=${e} record=${a?null:s} onSaved=${t.read} />`:o==="history"?r`<${gr} name=${e} events=${t.events} onChange=${t.read} />`:o==="firings"?r`<${$r} name=${e} events=${t.events} />`:o==="explain"?r`<${hr} name=${e} />`:i?r`<${R} title="Nothing to show.">Create it under <a href="?tab=rule">Rule</a>, or look at its <a href="?tab=history">history</a>.<//>`:o==="tasks"?r`<${Sr} name=${e} events=${t.events} />`:r`<${br} name=${e} of=${t} />`}`}var pa=[[/^\/$/,rr],[/^\/s\/(.+)$/,Cr],[/^\/move$/,ur],[/^\/activity$/,Wo],[/^\/jobs$/,Go],[/^\/jobs\/(.+)$/,Yo],[/^\/cluster$/,Vo],[/^\/access$/,Ho]];function da(){return oe("No such page"),r`<${Z}>No such page<//><${R} title="There is nothing at this address."><a href="/">Go to the overview</a><//>`}function ma(){let e=V(Qe).split("?")[0],t=V(Me),[n,o]=$(!1),s=V(Ee);if(S(()=>{e!=="/login"&&!Ee.get()&&cn().catch(()=>{}).then(()=>o(!0))},[e==="/login",t]),e==="/login")return r`<${Ut} bare><${Xo} /><//>`;if(!s&&!n)return r`<${Ut} bare><${he} what="Asking who you are" /><//>`;let[a,i]=mo(e,pa)??[da,[]];return r`<${Ut}><${a} key=${e} name=${i[0]} /><//>`}Gn(r`<${ma} />`,document.getElementById("app"));
//# sourceMappingURL=app.js.map
