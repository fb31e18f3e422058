var K,Pn,Sr,Ae,Vt,kt,Fn,bt,jn,Gt,Jt,Cr,it=Symbol.for("pv"),Et={},xt=[],Rr=/^m(i|n|o|s|text|space)$/,Qt=Array.isArray,Yt=xt.slice,Ve=Object.assign;function ze(e){e&&e.parentNode&&e.remove()}function qn(e,t,n){var o,s,a,i={},l=arguments.length;for(a in t)a=="key"?o=t[a]:a=="ref"&&typeof e!="function"?s=t[a]:i[a]=t[a];return l>2&&(i.children=l>3?Yt.call(arguments,2):n),at(e,i,o,s,null)}function at(e,t,n,o,s){var a={type:e,props:t,key:n,ref:o,__k:null,__:null,__b:0,__e:null,__c:null,constructor:it,__v:s||++Pn,__i:-1,__u:0};return!s&&K.vnode&&K.vnode(a),a}function Tt(e){return e.children}function yt(e,t){this.props=e,this.context=t,this.__g=0}function Ie(e,t){if(t==null)return e.__&&Ie(e.__,e.__i+1);for(var n;t<e.__k.length;t++)if((n=e.__k[t])&&n.__e)return n.__e;return typeof e.type!="function"||e.props.__P?null:Ie(e)}function Dr(e){var t,n=e.__v,o=n.__e,s=[],a=[],i=e.__P;i&&((t=Ve({constructor:it},n)).__v=n.__v+1,K.vnode&&K.vnode(t),Xt(i,t,n,e.__n,i.namespaceURI,32&n.__u?[o]:null,s,o||Ie(n),32&n.__u,a),t.__v=n.__v,t.__.__k[t.__i]=t,zn(s,t,a),n.__=n.__e=null,t.__e!=o&&Un(t))}function Un(e){if((e=e.__)&&e.__c&&!e.props.__P)return e.__e=null,e.__k.some(function(t){return t&&(e.__e=t.__e)}),Un(e)}function Mn(e){(8&e.__g||(e.__g|=8,Ae.push(e),kt++))&&Vt==K.debounceRendering||((Vt=K.debounceRendering)||queueMicrotask)(Hn)}function Hn(){try{for(var e,t=1;Ae.length;)Ae.length>t&&Ae.sort(Fn),e=Ae.shift(),t=Ae.length,8&e.__g&&Dr(e)}finally{(kt=Ae.length)&&(Vt||queueMicrotask)(Hn)}}function Wn(e,t,n,o,s,a,i,l,u,d,c){var h,m,p,f,v,g,x=o.__k||xt,y=t.length;for(u=Or(n,t,x,u,y),h=0;h<y;h++)(p=n.__k[h])!=null&&(m=~p.__i&&x[p.__i]||Et,p.__i=h,g=Xt(e,p,m,s,a,i,l,u,d,c),f=p.__e,(m.ref!=p.ref||8&m.__u)&&(m.ref&&Zt(m.ref,null,p,m),p.ref&&c.push(p.ref,p.__c||f,p)),v=v||f,4&p.__u?(u=Bn(p,u,e,!m.__v),m.__e&&(m.__e=null)):typeof p.type=="function"&&g!==void 0?u=g:f&&(u=f.nextSibling),p.__u&=-21);return n.__e=v,u}function Or(e,t,n,o,s){var a,i,l,u,d,c,h,m,p,f=n.length,v=f,g=0,x=0,y=e.__k=Array(s);for(a=0;a<s;a++)(i=t[a])!=null&&typeof i!="boolean"&&typeof i!="function"?(typeof i!="object"||i.constructor===String?i=y[a]=at(null,i):Qt(i)?i=y[a]=at(Tt,{children:i}):i.constructor===it&&i.__b?i=y[a]=at(i.type,i.props,i.key,i.ref,i.__v):y[a]=i,u=a+g,i.__=e,i.__b=e.__b+1,l=null,~(d=i.__i=Ar(i,n,u,v))&&(v--,(l=n[d])&&(l.__u|=2)),l&&l.__v?(i.__u|=16,d==u-1?g--:d==u+1?g++:d!=u&&(d>u?g--:g++,x=1)):(~d||(s>f?g--:s<f&&g++),typeof i.type!="function"&&(i.__u|=4))):y[a]=null;if(x){for(c=[],h=[],a=0;a<s;a++)if((i=y[a])&&16&i.__u){for(g=0,m=c.length;g<m;)c[p=g+m>>1]<i.__i?g=p+1:m=p;c[g]=i.__i,h[a]=g+1}for(g=c.length;a--;)h[a]&&(h[a]==g?g--:y[a].__u|=4)}if(v)for(a=0;a<f;a++)!(l=n[a])||2&l.__u||(l.__e==o&&(o=Ie(l)),en(l,l));return o}function Bn(e,t,n,o){var s,a,i,l;if(typeof e.type=="function"){if(e.props.__P)return t;if(s=e.__k)for(a=0;a<s.length;a++)s[a]&&(s[a].__=e,t=Bn(s[a],t,n,!1));return t}for(t&&!t.parentNode&&(t=Ie(e))&&!t.parentNode&&(t=null),i=e.__e,l=t;l&&l.nodeType==8;)l=l.nextSibling;for(i!=l&&(!o&&n.moveBefore&&i.parentNode?n.moveBefore(i,t):n.insertBefore(i,t||null)),t=i;(t=t&&t.nextSibling)&&t.nodeType==8&&!t.data.startsWith("$s"););return t}function Ar(e,t,n,o){var s,a=e.key,i=e.type,l=t[n],u=l&&!(2&l.__u);if(l===null&&a==null||u&&a==l.key&&i==l.type)return n;if(o>(u?1:0)){for(s=n-1;s>=0;s--)if((l=t[s])&&!(2&l.__u)&&a==l.key&&i==l.type)return s;for(s=n+1;s<t.length;s++)if((l=t[s])&&!(2&l.__u)&&a==l.key&&i==l.type)return s}return-1}function Ln(e,t,n){n==null&&(n=""),t[0]=="-"?e.setProperty(t,n):e[t]=n}function vt(e,t,n,o,s){var a,i;if(t=="style")if(typeof n=="string")e.style.cssText=n;else{if(typeof o=="string"&&(e.style.cssText=o=""),o)for(t in o)n&&t in n||Ln(e.style,t);if(n)for(t in n)o&&n[t]==o[t]||Ln(e.style,t,n[t])}else if(t[0]=="o"&&t[1]=="n")typeof n!="function"&&(n=null),typeof o!="function"&&(o=null),(e.__e||(e.__e={}))[t]=n,n&&o||(i=Jt[t]||(Jt[t]=Ir(t)),(e.__a||(e.__a={}))[t]=Gt,a=t!=(t=t.replace(jn,"$1")),(t=t.slice(2))[0]<"a"&&(t=t.toLowerCase()),n?e.addEventListener(t,i,a):e.removeEventListener(t,i,a));else{if(s=="http://www.w3.org/2000/svg")t=t.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if(t!="width"&&t!="height"&&t!="href"&&t!="list"&&t!="form"&&t!="tabIndex"&&t!="download"&&t!="rowSpan"&&t!="colSpan"&&t!="role"&&t!="popover"&&t in e)try{return void(e[t]=n??"")}catch{}if(typeof n=="function")return;n==null||n===!1&&t[4]!="-"?e.removeAttribute(t):e.setAttribute(t,t=="popover"&&n==1?"":n)}}function Ir(e){return function(t){var n=this.__e;if(n){if(n=n[e],t[bt]==null)t[bt]=Gt++;else if(t[bt]<this.__a[e])return;return n(K.event?K.event(t):t)}}}function Xt(e,t,n,o,s,a,i,l,u,d){var c,h,m,p,f,v,g,x,y,N,L,k,G,se,oe,re,Y,w,D=t.type;if(t.constructor!==it)return null;128&n.__u&&(u=32&n.__u,c=n.__c.__z)&&(t.__u|=u,h=a=[],c.nodeType==8?l=wt(c,a):a.push(c),l=a[0]||l),(c=K.__b)&&c(t);e:if(typeof D=="function"){m=i.length;try{if(x=t.props,y=(c=D.prototype)&&c.render,N=(c=D.contextType)&&o[c.__c],L=c?N?N.props.value:c.__:o,(p=n.__c)?(t.__c=p,2&p.__g&&(p.__g|=1)):(y?t.__c=p=new D(x,L):(t.__c=p=new yt(x,L),p.constructor=D,p.render=Mr),N&&N.sub(p),p.state||(p.state={}),p.__n=o,p.__g|=8,p.__h=[],p.__k=[]),y&&(p.__s||(p.__s=p.state),D.getDerivedStateFromProps&&(p.__s==p.state&&(p.__s=Ve({},p.__s)),Ve(p.__s,D.getDerivedStateFromProps(x,p.__s)))),f=p.props,v=p.state,p.__v=t,n.__c){if(x!==f&&y&&!D.getDerivedStateFromProps&&p.componentWillReceiveProps&&p.componentWillReceiveProps(x,L),t.__v==n.__v&&!(8&p.__g)||!(4&p.__g)&&p.shouldComponentUpdate&&p.shouldComponentUpdate(x,p.__s,L)===!1){t.__v!=n.__v&&(p.props=x,p.state=p.__s,p.__g&=-9),t.__e=n.__e,t.__k=n.__k,t.__k.some(function(_){_&&(_.__=t)}),xt.push.apply(p.__h,p.__k),p.__k=[],p.__h.length&&i.push(p),l=Ie(n);break e}p.componentWillUpdate&&p.componentWillUpdate(x,p.__s,L),y&&p.componentDidUpdate&&p.__h.push(function(){p.componentDidUpdate(f,v,g)})}else y&&!D.getDerivedStateFromProps&&p.componentWillMount&&p.componentWillMount(),y&&p.componentDidMount&&p.__h.push(p.componentDidMount);p.context=L,p.props=x,p.__P=e,p.__g&=-5,k=K.__r,G=y?25:0;do p.__g&=-9,k&&k(t),c=p.render(p.props,p.state=p.__s,p.context);while(8&p.__g&&++G<25);y&&(xt.push.apply(p.__h,p.__k),p.__k=[]),p.state=p.__s,p.getChildContext&&(o=Ve({},o,p.getChildContext())),y&&n.__c&&p.getSnapshotBeforeUpdate&&(g=p.getSnapshotBeforeUpdate(f,v)),se=c&&c.type===Tt&&c.key==null?c.props.children:c,x.__P&&(c=l,s=(e=x.__P).namespaceURI,u=a=null,n.props&&n.props.__P!=e&&(n.__k.some(function(_){_&&en(_,_)}),n.__k=null),l=n.__k?Ie(n,0):null),l=Wn(e,Qt(se)?se:[se],t,n,o,s,a,i,l,u,d),x.__P&&(t.__e=null,l=c),t.__u&=-161,h&&h.some(ze),p.__h.length&&i.push(p),1&p.__g&&(p.__g&=-4)}catch(_){if(i.length=m,t.__v=null,u||a)if(_&&_.then){if(t.__u|=128|u,a){for(~(Y=a.indexOf(l||void 0))||(Y=a.length);(w=a[Y-1])&&w.nodeType==8;)Y--;for(;Y<a.length;Y++)if(w=a[Y])if(a[Y]=null,oe){if(w==re)break}else{if(w.nodeType!=8)break;w.data.startsWith("$s")&&(re=wt(oe=w))}}if(!oe){for(;l&&l.nodeType==8&&l.nextSibling;)l=l.nextSibling;oe=l}(c=wt(oe=t.__c.__z||(t.__c.__z=oe)))?(t.__e=oe,l=c):t.__e=l,l=l&&l.nextSibling}else a&&a.some(ze);else t.__e=n.__e;t.__k||(t.__k=n.__k||[]),_&&_.then||Kn(t),K.__e(_,t,n)}}else l=t.__e=Nr(n.__e,t,n,o,s,a,i,u,d,e);return(c=K.diffed)&&c(t),l}function wt(e,t){if(e&&e.nodeType==8&&e.data.startsWith("$s"))for(var n=1;e=e.nextSibling;){if(e.nodeType==8){if(e.data.startsWith("$s"))n++;else if(e.data.startsWith("/$s")&&!--n)return e}t&&t.push(e)}}function Kn(e){e&&(e.__c&&(e.__c.__g|=4),e.__k&&e.__k.some(Kn))}function zn(e,t,n){for(var o=0;o<n.length;)Zt(n[o++],n[o++],n[o++]);K.__c&&K.__c(t,e),e.some(function(s){try{e=s.__h,s.__h=[],e.some(function(a){a.call(s)})}catch(a){K.__e(a,s.__v)}})}function Nr(e,t,n,o,s,a,i,l,u,d){var c,h,m,p,f,v,g,x,y=n.props||Et,N=t.props,L=t.type;if(L=="svg"?s="http://www.w3.org/2000/svg":L=="math"?s="http://www.w3.org/1998/Math/MathML":s||(s="http://www.w3.org/1999/xhtml"),a){for(c=0;c<a.length;c++)if((f=a[c])&&(L?f.localName==L:f.nodeType==3)){e=f,a[c]=null;break}}if(!e){if(x=d.ownerDocument||document,!L)return x.createTextNode(N);e=x.createElementNS(s,L,N.is?N:d),l&&(K.__m&&K.__m(t,a),l=!1),a=null}if(L){if(d=L=="template"&&e.content||e,a=L=="textarea"&&N.defaultValue!=null?null:a&&Yt.call(d.childNodes),!l&&a)for(y={},c=0;c<e.attributes.length;c++)y[(f=e.attributes[c]).name]=f.value;for(c in y)f=y[c],c=="dangerouslySetInnerHTML"?m=f:c=="children"||c in N||c=="value"&&"defaultValue"in N||c=="checked"&&"defaultChecked"in N||vt(e,c,null,f,s);for(c in N)f=N[c],c=="children"?p=f:c=="dangerouslySetInnerHTML"?h=f:c=="value"?v=f:c=="checked"?g=f:l&&typeof f!="function"||y[c]===f||vt(e,c,f,y[c],s);h?(l||m&&(h.__html==m.__html||h.__html==e.innerHTML)||(e.innerHTML=h.__html),t.__k=[]):(m&&(e.textContent=""),(L=="foreignObject"||s=="http://www.w3.org/1998/Math/MathML"&&Rr.test(L))&&(s="http://www.w3.org/1999/xhtml"),Wn(d,Qt(p)?p:[p],t,n,o,s,a,i,a?a[0]:n.__k&&Ie(n,0),l,u),a&&a.some(ze)),l&&L!="textarea"||(c="value",L=="progress"&&v==null?e.removeAttribute(c):v==null||v===e[c]&&(L!="progress"||v)||vt(e,c,v,y[c],s),c="checked",g!=null&&g!=e[c]&&vt(e,c,g,y[c],s))}else y===N||l&&e.data==N||(e.data=N);return e}function Zt(e,t,n,o){try{typeof e=="function"?t?t.__x=e(t)||1:o&&(o=o.__c||o.__e)&&(t=o.__x)&&(o.__x=null,typeof t=="function"?t():e(null)):e.current=t}catch(s){K.__e(s,n)}}function en(e,t,n){var o,s,a,i;if(K.unmount&&K.unmount(e),!(o=e.ref)||o.current&&o.current!=e.__e||Zt(o,null,t,e),o=e.__c){if(o.componentWillUnmount)try{o.componentWillUnmount()}catch(l){K.__e(l,t)}o.__P=o.__n=null}if(o=e.__k)for(i=0;i<o.length;i++)o[i]&&en(o[i],t,typeof e.type!="function"||n&&!e.props.__P);!n&&(o=e.__c)&&(o=o.__z)&&(s=wt(o,a=[]))&&(o==e.__e&&a.some(ze),ze(s),ze(o)),n||ze(e.__e),e.__e=e.__c=e.__=null}function Mr(e,t,n){return this.constructor(e,n)}function Vn(e,t){var n,o,s,a;K.__&&K.__(e,t),t.nodeType==9&&(t=t.documentElement),o=(n=e&&32&e.__u)?null:t.__k,t.__k=at(Tt,{children:[e]}),s=[],a=[],Xt(t,t.__k,o||Et,Et,t.namespaceURI,o?null:t.firstChild?Yt.call(t.childNodes):null,s,o?o.__e:t.firstChild,n,a),zn(s,t.__k,a),t.__k.props.children=null}K={__e:function(e,t,n,o){for(var s,a,i;t=t.__;)if((s=t.__c)&&!(1&s.__g)){s.__g|=4;try{if((i=(a=s.constructor)&&a.getDerivedStateFromError)&&s.setState(a.getDerivedStateFromError(e)),s.componentDidCatch&&(s.componentDidCatch(e,o||{}),i=1),i&&8&s.__g)return void(s.__g|=2)}catch(l){e=l}}throw kt=0,e}},Pn=0,Sr=function(e){return e!=null&&e.constructor===it},yt.prototype.setState=function(e,t){var n=this.__s;n&&n!=this.state||(n=this.__s=Ve({},this.state)),typeof e=="function"&&(e=e(Ve({},n),this.props)),e&&(Ve(n,e),this.__v&&(t&&this.__k.push(t),Mn(this)))},yt.prototype.forceUpdate=function(e){this.__v&&(this.__g|=4,e&&this.__h.push(e),Mn(this))},yt.prototype.render=Tt,Ae=[],kt=0,Fn=function(e,t){return e.__v.__b-t.__v.__b},bt=Symbol(),jn=/(PointerCapture)$|Capture$/i,Gt=0,Jt={},Cr=0;var Je,te,tn,Jn,nn=Object.is,St=0,oo=[],on=[],ee=K,Gn=ee.__b,Qn=ee.__r,Yn=ee.diffed,Xn=ee.__c,Zn=ee.unmount,eo=ee.__;function ct(e,t){ee.__h&&ee.__h(te,e,St||t),St=0;var n=te.__H||(te.__H={__:[],__h:[]});return e>=n.__.length&&n.__.push({}),n.__[e]}function $(e){return St=1,Lr(ro,e)}function Lr(e,t,n){var o=ct(Je++,2);if(o.t=e,!o.__c&&(o.__=[n?n(t):ro(void 0,t),function(a){var i=(o.__N||o.__)[0],l=o.t(i,a);nn(i,l)||(o.__N=[l,o.__[1]],o.__c.setState({}))}],o.__c=te,!te.__f)){te.__f=!0;var s=te.shouldComponentUpdate;te.shouldComponentUpdate=function(a,i,l){var u=this.__H;if(!u)return!0;var d=!1,c=this.props!=a;if(u.__.some(function(m){m.__N&&(d=!0,nn(m.__[0],m.__N[0])||(c=!0))}),s){var h=s.call(this,a,i,l);return d?h||c:h}return!d||c}}return o.__}function S(e,t){var n=ct(Je++,3);!ee.__s&&sn(n.__H,t)&&(n.__P=!0,n.__=e,n.u=t,te.__H.__h.push(n))}function ut(e,t){var n=ct(Je++,4);!ee.__s&&sn(n.__H,t)&&(n.__P=!1,n.__=e,n.u=t,te.__h.push(n))}function Q(e){return St=5,fe(function(){return{current:e}},[])}function fe(e,t){var n=ct(Je++,7);return sn(n.__H,t)&&(n.__=e(),n.__H=t),n.__}function pt(){var e=ct(Je++,11);if(!e.__){for(var t=te.__v;!t.__m&&t.__;)t=t.__;var n=t.__m||(t.__m=[0,0]);e.__="P"+n[0]+"-"+n[1]++}return e.__}function Pr(){var e;do{for(;e=on.shift();)try{lt(e)}catch(n){ee.__e(n,{__:(e=e.__P)&&e.__v})}for(;e=oo.shift();){var t=e.__H;if(e.__P&&t)try{t.__h.some(lt),t.__h.some(rn),t.__h=[]}catch(n){t.__h=[],ee.__e(n,e.__v)}}}while(on.length)}ee.__b=function(e){te=null,Gn&&Gn(e)},ee.__=function(e,t){e&&t.__k&&t.__k.__m&&(e.__m=t.__k.__m),eo&&eo(e,t)},ee.__r=function(e){Qn&&Qn(e),Je=0;var t=(te=e.__c).__H;t&&(tn==te?te.__h=[]:(t.__h.some(lt),t.__h.some(rn),Je=0),t.__h=[],t.__.some(function(n){n.__N&&(n.__=n.__N),n.u=n.__N=void 0})),tn=te},ee.diffed=function(e){Yn&&Yn(e);var t=e.__c;t&&t.__H&&(t.__H.__h.length&&no(oo.push(t)),t.__H.__.some(function(n){n.u&&(n.__H=n.u)})),tn=te=null},ee.__c=function(e,t){t.some(function(n){try{n.__h.some(lt),n.__h=n.__h.filter(function(o){return!o.__||rn(o)})}catch(o){n.__h=[function(){throw o}]}}),Xn&&Xn(e,t)},ee.unmount=function(e){Zn&&Zn(e);var t,n,o=e.__c;o&&o.__H&&(o.__H.__.some(function(s){try{if(s.__P&&s.__c){if(n===void 0){for(n=e.__;n&&(!n.__c||!n.__c.__P);)n=n.__;n=n&&n.__c}s.__P=n,no(on.push(s))}else lt(s)}catch(a){t=a}}),o.__H=void 0,t&&ee.__e(t,o.__v))};var to=typeof requestAnimationFrame=="function";function Fr(e){var t,n=function(){clearTimeout(o),to&&cancelAnimationFrame(t),setTimeout(e)},o=setTimeout(n,35);to&&(t=requestAnimationFrame(n))}function no(e){e!=1&&Jn==ee.requestAnimationFrame||((Jn=ee.requestAnimationFrame)||Fr)(Pr)}function lt(e){var t=te,n=e.__c;typeof n=="function"&&(e.__c=void 0,n()),te=t}function rn(e){var t=te;e.__c=e.__(),te=t}function sn(e,t){return!e||e.length!=t.length||t.some(function(n,o){return!nn(n,e[o])})}function ro(e,t){return typeof t=="function"?t(e):t}var ao=function(e,t,n,o){var s;t[0]=0;for(var a=1;a<t.length;a++){var i=t[a++],l=t[a]?(t[0]|=i?1:2,n[t[a++]]):t[++a];i===3?o[0]=l:i===4?o[1]=Object.assign(o[1]||{},l):i===5?(o[1]=o[1]||{})[t[++a]]=l:i===6?o[1][t[++a]]+=l+"":i?(s=e.apply(l,ao(e,l,n,["",null])),o.push(s),l[0]?t[0]|=2:(t[a-2]=0,t[a]=s)):o.push(l)}return o},so=new Map;function io(e){var t=so.get(this);return t||(t=new Map,so.set(this,t)),(t=ao(this,t.get(e)||(t.set(e,t=(function(n){for(var o,s,a=1,i="",l="",u=[0],d=function(m){a===1&&(m||(i=i.replace(/^\s*\n\s*|\s*\n\s*$/g,"")))?u.push(0,m,i):a===3&&(m||i)?(u.push(3,m,i),a=2):a===2&&i==="..."&&m?u.push(4,m,0):a===2&&i&&!m?u.push(5,0,!0,i):a>=5&&((i||!m&&a===5)&&(u.push(a,0,i,s),a=6),m&&(u.push(a,m,0,s),a=6)),i=""},c=0;c<n.length;c++){c&&(a===1&&d(),d(c));for(var h=0;h<n[c].length;h++)o=n[c][h],a===1?o==="<"?(d(),u=[u],a=3):i+=o:a===4?i==="--"&&o===">"?(a=1,i=""):i=o+i[0]:l?o===l?l="":i+=o:o==='"'||o==="'"?l=o:o===">"?(d(),a=1):a&&(o==="="?(a=5,s=i,i=""):o==="/"&&(a<5||n[c][h+1]===">")?(d(),a===3&&(u=u[0]),a=u,(u=u[0]).push(2,0,a),a=0):o===" "||o==="	"||o===`
`||o==="\r"?(d(),a=2):i+=o),a===3&&i==="!--"&&(a=4,u=u[0])}return d(),u})(e)),t),arguments,[])).length>1?t:t[0]}var r=io.bind(qn);function ue(e){let t=new Set;return{get:()=>e,set(n){if(!Object.is(n,e)){e=n;for(let o of[...t])o(e)}},subscribe(n){return t.add(n),()=>t.delete(n)}}}function J(e){let[t,n]=$(e.get());return S(()=>(n(e.get()),e.subscribe(n)),[e]),t}function Ct(e,t){let n=t;try{n=localStorage.getItem(e)??t}catch{}let o=ue(n);return o.subscribe(s=>{try{localStorage.setItem(e,s)}catch{}}),o}var Rt=()=>location.pathname+location.search,Ge=ue(Rt()),lo=0;addEventListener("popstate",()=>Ge.set(Rt()));function ge(e,{replace:t=!1}={}){e!==Rt()&&(t?history.replaceState(history.state,"",e):(lo++,history.pushState({depth:lo},"",e)),Ge.set(Rt()))}function co(){history.state?.depth>0?history.back():ge("/")}document.addEventListener("click",e=>{if(e.defaultPrevented||e.button!==0||e.metaKey||e.ctrlKey||e.shiftKey||e.altKey)return;let t=e.target.closest?.("a[href]");!t||t.target||t.hasAttribute("download")||t.origin!==location.origin||t.pathname.startsWith("/v1/")||(e.preventDefault(),t.hash&&t.pathname===location.pathname?document.getElementById(t.hash.slice(1))?.focus():ge(t.pathname+t.search))});function q(){let e=J(Ge);return[fe(()=>new URLSearchParams(e.split("?")[1]??""),[e]),(o,{replace:s=!0}={})=>{let a=new URLSearchParams(location.search);for(let[l,u]of Object.entries(o)){a.delete(l);for(let d of[u].flat())d&&a.append(l,d)}let i=a.toString();ge(location.pathname+(i?`?${i}`:""),{replace:s})}]}function ne(e){S(()=>{document.title=e?`${e} · Gatekeeper`:"Gatekeeper"},[e])}function uo(e,t){for(let[n,o]of t){let s=n.exec(e);if(s)try{return[o,s.slice(1).map(decodeURIComponent)]}catch{return null}}return null}function we(e,t,n=200){let[o,s]=$(e);return S(()=>s(e),[e]),S(()=>{if(o===e)return;let a=setTimeout(()=>t(o),n);return()=>clearTimeout(a)},[o]),[o,s]}var Re=ue({online:!0}),Ne=ue(0),dt=null;function Dt(){Re.get().online||(clearTimeout(dt),dt=null,Re.set({online:!0}),Ne.set(Ne.get()+1))}function mt(e){let t=Re.get();Re.set({online:!1,since:t.since??Date.now(),message:e}),dt===null&&(dt=setTimeout(po,1e3))}async function po(){try{let e=await fetch("/v1/definitions?page_size=1",{signal:AbortSignal.timeout(1e4)});if(e.status<500)return Dt();let t=await e.json().catch(()=>null);t?.message&&Re.set({...Re.get(),message:t.message})}catch{}Re.get().online||(dt=setTimeout(po,1e3))}var Me=class extends Error{constructor(t,n){super(n?.message||(t?`The server answered with status ${t}.`:"The server does not answer.")),this.name="APIError",this.status=t,this.code=n?.code??(t?"":"UNAVAILABLE"),this.reason=n?.reason??"",this.metadata=n?.metadata??{},this.fields=n?.fields??[],this.offline=t===0||t===502||t===503||t===504}};function ae(e,...t){return String.raw({raw:e},...t.map(n=>encodeURIComponent(n)))}function Ot(e={}){let t=new URLSearchParams;for(let[o,s]of Object.entries(e))for(let a of Array.isArray(s)?s:[s])a!=null&&a!==""&&a!==!1&&a!==0&&t.append(o,a);let n=t.toString();return n?`?${n}`:""}var an=0n,mo=0,tt=()=>Date.now()+mo;function At(){let e=crypto.getRandomValues(new Uint8Array(16));return{request_id:`dashboard-${Array.from(e,n=>n.toString(16).padStart(2,"0")).join("")}`,request_revision:an.toString()}}function jr(e){try{let t=BigInt(e?.revision??0);t>an&&(an=t)}catch{}}async function Qe(e,t,{query:n,body:o,signal:s}={}){let a={method:e,signal:s,headers:{Accept:"application/json"}};o!==void 0&&(a.headers["Content-Type"]="application/json",a.body=JSON.stringify(o));let i,l=null;try{i=await fetch(t+Ot(n),a),l=await i.json().catch(()=>null)}catch(u){throw s?.aborted?u:(mt("The server does not answer."),new Me(0))}return It(i,l)}function It(e,t){let n=Date.parse(e.headers.get("Date")??"");if(n){let s=n-Date.now();mo=Math.abs(s)>2e3?s:0}if(e.ok)return Dt(),jr(t),t??{};let o=new Me(e.status,t);throw o.offline?mt(o.message):Dt(),e.status===401&&qr(),o}var T=(e,t,n)=>Qe("GET",e,{query:t,signal:n}),C=(e,t,n)=>Qe("POST",e,{body:t,signal:n});function qr(){if(location.pathname==="/login")return;let e=location.pathname+location.search;history.replaceState(null,"",`/login${Ot({next:e==="/"?"":e})}`),dispatchEvent(new PopStateEvent("popstate"))}async function _e(e,t,n,o,s=5e3){let a=[],i="";do{let l=await T(e,{page_size:1e3,...t,page_token:i},o);a.push(...l[n]??[]),i=l.next_page_token??""}while(i&&a.length<s);return{items:a,more:i!==""}}var Ee=ue(null),Mt=Ct("author",""),pe=()=>Ee.get()?.authenticated?{}:{author:Mt.get()||"dashboard"};async function ln(){let e=await T("/session");Ee.set({authenticates:e.authenticated??!1,...e}),Nt.clear()}async function fo(e){await Qe("POST","/session",{body:{token:e}}),await ln()}async function ho(){await Qe("DELETE","/session"),Ee.set(null)}var Nt=new Map;function Ur(e){let t=JSON.stringify(e),n=Nt.get(t);return(!n||n.at<Date.now()-6e4)&&(n={at:Date.now(),answer:C("/v1/can-i",e)},n.answer.catch(()=>Nt.delete(t)),Nt.set(t,n)),n.answer}var Hr={ROLE_OPERATOR:"It needs the role operator there.",ROLE_EDITOR:"It needs the role editor there.",ROLE_ADMIN:"It needs the role admin.",ROLE_ACQUIRER:"It needs the role acquirer there."};function $o(e,t="",n="",o=""){let s=J(Ee),[a,i]=$("");return S(()=>{if(!e||!s?.authenticated)return i("");let l=!1;return Ur({role:e,semaphore:t,group:n,acquirer:o}).then(u=>l||i(u.allowed?"":`You may not: ${u.reason}. ${Hr[e]} An administrator can grant it.`),()=>l||i("")),()=>l=!0},[e,t,n,o,s]),a}var b=e=>Number(e??0).toLocaleString("en"),O=(e,t,n)=>`${b(e)} ${Number(e)===1?t:n}`,M=e=>e?Math.round(parseFloat(e)*1e3):0;function ve(e){if(!e)return"0s";if(e<0)return`-${ve(-e)}`;let t="";for(let[n,o]of[["h",36e5],["m",6e4]]){let s=Math.floor(e/o);s&&(t+=s+n),e-=s*o}return e>=1e3||e&&t?t+=`${+(e/1e3).toFixed(3)}s`:e&&(t+=`${+e.toFixed(3)}ms`),t}function X(e){return e<0?"0s":e<1e4?ve(Math.round(e/100)*100):e<36e5?ve(Math.round(e/1e3)*1e3):e<48*36e5?ve(Math.round(e/6e4)*6e4):`${Math.floor(e/864e5)}d`}var nt=e=>X(Math.max(0,Math.round(e/1e3))*1e3),Wr={ms:1,s:1e3,m:6e4,h:36e5,d:864e5};function xe(e){if(e=e.trim(),e==="")return;if(e==="0")return"0s";let t=0;if(e.replace(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g,(o,s,a)=>(t+=parseFloat(s)*Wr[a],""))!=="")throw new Error(`“${e}” is not a duration. Write it as 90s, 5m, 1h30m or 2d.`);return`${+(t/1e3).toFixed(3)}s`}var Ye=e=>e==null?"":ve(M(e));var ft=e=>String(e).padStart(2,"0");function P(e){if(!e)return"";let t=new Date(e);return`${`${t.getFullYear()}-${ft(t.getMonth()+1)}-${ft(t.getDate())}`} ${Lt(t)}`}var Lt=e=>`${ft(e.getHours())}:${ft(e.getMinutes())}:${ft(e.getSeconds())}`;function ot(e){if(!e)return"";let t=new Date(e);return t.toDateString()===new Date(tt()).toDateString()?Lt(t):P(e)}function be(e){if(e=Number(e??0),e<1024)return`${e} B`;let t=-1;do e/=1024,t++;while(e>=1024&&t<3);return`${e<10?e.toFixed(1):Math.round(e)} ${["KiB","MiB","GiB","TiB"][t]}`}function Le(e,t=3){let n=e.length-t;return e.slice(0,t).join(", ")+(n>0?` and ${b(n)} more`:"")}function cn(e){if(!e)return"";let t=Uint8Array.from(atob(e),n=>n.charCodeAt(0));try{return new TextDecoder("utf-8",{fatal:!0}).decode(t)}catch{return Array.from(t,n=>n.toString(16).padStart(2,"0")).join(" ")}}var Br=4e4,Kr=5e3;function _o(e,t,n){let o=!1,s=0,a=!1,i="",l=null,u=null,d=()=>{clearTimeout(u),l?.abort(),l=null},c=()=>{o=!0,d(),document.removeEventListener("visibilitychange",h)},h=()=>{document.hidden?d():l||p()},m=f=>{if(f.id&&(i=f.id),!f.data)return;let v=JSON.parse(f.data);if(f.type==="end")c(),n.end?.();else if(f.type==="error"){let g=new Me(v.status??500,v);go(v.code)||(c(),n.error?.(g))}else n[f.type]?.(v,f.id)};async function p(){clearTimeout(u);let f=l=new AbortController,v=null,g=()=>{clearTimeout(v),v=setTimeout(()=>f.abort(),Br)};try{g();let x={Accept:"text/event-stream"};i&&(x["Last-Event-ID"]=i);let y=await fetch(e+Ot(t),{headers:x,signal:f.signal});if(!y.ok||!y.headers.get("Content-Type")?.startsWith("text/event-stream"))throw It(y,await y.json().catch(()=>null)),new Me(500,{message:"The answer is not a stream of events."});s=0,It(y,{}),n.open?.(a),a=!0,await zr(y.body,N=>!o&&m(N),g)}catch(x){x instanceof Me?!x.offline&&!go(x.code)&&x.status!==401?(c(),n.error?.(x)):x.status===401&&c():f.signal.aborted||mt("The connection to the server broke.")}finally{clearTimeout(v)}o||l!==f||(l=null,!document.hidden&&(s++,u=setTimeout(p,Math.min(Kr,500*s)*(.75+Math.random()/2))))}return document.addEventListener("visibilitychange",h),document.hidden||p(),c}var go=e=>["UNAVAILABLE","ABORTED","CANCELLED","DEADLINE_EXCEEDED","RESOURCE_EXHAUSTED","UNKNOWN"].includes(e);async function zr(e,t,n){let o=e.pipeThrough(new TextDecoderStream).getReader(),s="",a={type:"message",id:"",data:""};for(;;){let{value:i,done:l}=await o.read();if(l)return;n();let u=(s+i).split(`
`);s=u.pop();for(let d of u){if(d.endsWith("\r")&&(d=d.slice(0,-1)),d===""){t(a),a={type:"message",id:"",data:""};continue}let c=d.indexOf(":");if(c<=0)continue;let h=d.slice(c+1).replace(/^ /,"");switch(d.slice(0,c)){case"event":a.type=h;break;case"id":a.id=h;break;case"data":a.data+=h}}}}function E(e,t,{every:n=0,keep:o=!1}={}){let[s,a]=$({}),[i,l]=$(0),u=J(Ne),d=JSON.stringify(t),c=Q(e);c.current=e,S(()=>{if(e===null)return;let p=new AbortController;return c.current(p.signal).then(f=>p.signal.aborted||a({data:f,key:d}),f=>p.signal.aborted||a(v=>({...v,error:f,failed:d}))),()=>p.abort()},[d,i,u,e===null]),S(()=>{if(!n)return;let p=setInterval(()=>document.hidden||l(f=>f+1),n);return()=>clearInterval(p)},[n]);let h=s.key===d,m=s.failed===d?s.error:void 0;return{data:h||o?s.data:void 0,error:m,loading:!h&&!m,refresh:()=>l(p=>p+1),set:p=>a(f=>({...f,data:p(f.data)}))}}function Te(e,t,n){let o=Q(n);o.current=n;let s=JSON.stringify([e,t]);S(()=>{if(!e)return;let a=i=>(...l)=>o.current[i]?.(...l);return _o(e,t,{message:a("message"),live:a("live"),missed:a("missed"),open:a("open"),error:a("error"),end:a("end")})},[s])}var un=ue(0),vo=null,bo=0;function De(){return S(()=>(bo++===0&&(vo=setInterval(()=>document.hidden||un.set(un.get()+1),1e3)),()=>{--bo===0&&clearInterval(vo)}),[]),J(un)}function Oe(e,t){let n=Q(e);n.current=e;let o=Q(null);return S(()=>()=>clearTimeout(o.current),[]),()=>{o.current===null&&(o.current=setTimeout(()=>{o.current=null,n.current()},t))}}function Pt(e){let[t,n]=$(()=>matchMedia(e).matches);return S(()=>{let o=matchMedia(e),s=()=>n(o.matches);return o.addEventListener("change",s),()=>o.removeEventListener("change",s)},[e]),t}function ye({what:e="Reading"}){return r`<p class="loading" role="status"><span class="dots" aria-hidden="true"></span>${e} …</p>`}function A({title:e,children:t}){return r`<div class="empty"><p class="empty-title">${e}</p>${t&&r`<p>${t}</p>`}</div>`}var yo={PERMISSION_DENIED:"An administrator can grant you the role.",UNAUTHENTICATED:"Log in again."};function W({error:e,retry:t}){if(!e)return null;let n=e.fields??[];return r`<div class="failure" role="alert">
    <p class="failure-text">${wo(e.message)}</p>
    ${yo[e.code]&&r`<p>${yo[e.code]}</p>`}
    ${n.length>0&&r`<ul>${n.map(o=>r`<li><code>${o.field}</code>: ${o.rule}</li>`)}</ul>`}
    ${e.offline&&r`<p>Whether a change was made is then not known. The activity page shows it. The same button again does nothing twice.</p>`}
    <p class="row">
      ${t&&r`<button type="button" onClick=${t}>Try again</button>`}
      ${(e.reason||e.code)&&r`<span class="faint">${e.reason||e.code}</span>`}
    </p>
  </div>`}var wo=(e="")=>{let t=e.charAt(0).toUpperCase()+e.slice(1);return/[.!?…]$/.test(t)?t:`${t}.`};function B({of:e,what:t,children:n}){return e.data===void 0?e.error&&!e.error.offline?r`<${W} error=${e.error} retry=${e.refresh} />`:r`<${ye} what=${t} />`:r`${e.error&&!e.error.offline&&r`<${W} error=${e.error} retry=${e.refresh} />`}${n(e.data)}`}function ko(){let e=J(Re);return De(),e.online?r`<div role="status" class="sr-only"></div>`:r`<div class="offline" role="status">
    <strong>${wo(e.message)}</strong>
    <span> What is shown is as of ${Lt(new Date(e.since))}. This page asks again every second, and recovers without you.</span>
  </div>`}var ht=ue([]),Vr=0;function he(e,{tone:t="run",action:n}={}){ht.set([...ht.get().slice(-2),{id:++Vr,text:e,tone:t,action:n}])}var pn=e=>ht.set(ht.get().filter(t=>t.id!==e));function Jr({id:e,text:t,tone:n,action:o}){return S(()=>{let s=setTimeout(()=>pn(e),o?3e4:12e3);return()=>clearTimeout(s)},[e]),r`<div class="notice tone-${n}">
    <span>${t}</span>
    ${o&&r`<button type="button" onClick=${()=>(pn(e),o.run())}>${o.text}</button>`}
    <button type="button" class="plain" aria-label="Dismiss" onClick=${()=>pn(e)}>×</button>
  </div>`}function Eo(){let e=J(ht);return r`<div class="notices" role="status">${e.map(t=>r`<${Jr} key=${t.id} ...${t} />`)}</div>`}function U({role:e,semaphore:t,group:n,acquirer:o,why:s,kind:a="",children:i,onClick:l,type:u="button",...d}){let c=$o(e,t,n,o),h=pt(),m=c||s;return r`<span class="action">
    <button
      type=${m?"button":u}
      class=${a}
      aria-disabled=${m?"true":void 0}
      aria-describedby=${m?h:void 0}
      onClick=${m?void 0:l}
      ...${d}
    >${i}</button>
    ${m&&r`<span class="why" role="tooltip" id=${h}>${m}</span>`}
  </span>`}function ce({title:e,onClose:t,wide:n,children:o}){let s=Q(null),a=pt();return ut(()=>{let i=document.activeElement,l=s.current;return l.showModal(),()=>{l.close(),i?.isConnected&&i.focus()}},[]),r`<dialog
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
  </dialog>`}function xo({label:e,help:t,error:n,children:o,class:s=""}){let a=pt(),i=[t&&`${a}-help`,n&&`${a}-error`].filter(Boolean).join(" ")||void 0;return r`<div class="field ${s}">
    <label for=${a}>${e}</label>
    ${o({id:a,"aria-describedby":i,"aria-invalid":n?"true":void 0})}
    ${t&&r`<p class="help" id="${a}-help">${t}</p>`}
    ${n&&r`<p class="error" id="${a}-error" role="alert">${n}</p>`}
  </div>`}function F({label:e,help:t,error:n,value:o,onInput:s,area:a,class:i,...l}){return r`<${xo} label=${e} help=${t} error=${n} class=${i}>
    ${u=>a?r`<textarea rows=${a} value=${o} onInput=${d=>s(d.target.value)} ...${u} ...${l}></textarea>`:r`<input value=${o} onInput=${d=>s(d.target.value)} autocomplete="off" spellcheck=${!1} ...${u} ...${l} />`}
  <//>`}function ke({label:e,help:t,value:n,options:o,onChange:s,class:a}){return r`<${xo} label=${e} help=${t} class=${a}>
    ${i=>r`<select value=${n} onChange=${l=>s(l.target.value)} ...${i}>
      ${o.map(([l,u])=>r`<option value=${l} selected=${l===n}>${u}</option>`)}
    </select>`}
  <//>`}function ie({label:e,help:t,checked:n,onChange:o}){let s=pt();return r`<div class="check">
    <input type="checkbox" id=${s} checked=${n} aria-describedby=${t?`${s}-help`:void 0} onChange=${a=>o(a.target.checked)} />
    <label for=${s}>${e}</label>
    ${t&&r`<span class="help" id="${s}-help">${t}</span>`}
  </div>`}function rt({of:e,query:t="tab",label:n}){let[o]=q(),s=o.get(t)??e[0][0],a=i=>{let l=new URLSearchParams(o);i===e[0][0]?l.delete(t):l.set(t,i);let u=l.toString();return location.pathname+(u?`?${u}`:"")};return r`<nav class="tabs" aria-label=${n}>
    ${e.map(([i,l])=>r`<a href=${a(i)} aria-current=${i===s?"page":void 0}>${l}</a>`)}
  </nav>`}function To(e){let t=Q(e);t.current=e,S(()=>{let n=o=>{if(o.defaultPrevented||o.ctrlKey||o.metaKey||o.altKey||document.querySelector("dialog[open]"))return;let s=/^(INPUT|TEXTAREA|SELECT)$/.test(o.target.tagName);s&&o.key!=="Escape"||t.current[o.key]?.(o,s)};return addEventListener("keydown",n),()=>removeEventListener("keydown",n)},[])}function I(e,t){return!e||e===`${t}UNSPECIFIED`?"":e.slice(t.length).toLowerCase().replaceAll("_"," ")}var Ft=[{value:"DEFINITION_STATE_DISABLED",word:"disabled",tone:"deny",help:"A pattern cannot be used: nobody is let in."},{value:"DEFINITION_STATE_DENIED",word:"denied",tone:"deny",help:"Callers are denied, and nobody gets a permit, until somebody acts."},{value:"DEFINITION_STATE_HELD",word:"held for an operator",tone:"stop",help:"A slot is held until an operator clears it."},{value:"DEFINITION_STATE_MISSED",word:"missed",tone:"stop",help:"Expected work is missed: it is silent."},{value:"DEFINITION_STATE_STOPPING",word:"stopping",tone:"stop",help:"A holder must stop."},{value:"DEFINITION_STATE_PAUSED",word:"paused",tone:"pause",help:"Nobody is let in until the pause ends."},{value:"DEFINITION_STATE_WAITING",word:"waiting",tone:"wait",help:"Somebody waits in the queue."},{value:"DEFINITION_STATE_RUNNING",word:"running",tone:"run",help:"Somebody holds a permit."},{value:"DEFINITION_STATE_IDLE",word:"idle",tone:"idle",help:"Nothing takes a slot."}],Gr={value:"",word:"unknown",tone:"idle",help:""},So=e=>Ft.find(t=>t.value===e)??Gr,$t=e=>Ft.filter(t=>e.states?.includes(t.value));function Co(e){let t=$t(e)[0];return e.pause&&t?.word==="paused"?e.pause.until?`paused until ${ot(e.pause.until)}`:"paused":t?.word??"unknown"}function jt(e){let t=[];e.disabled&&t.push(`Disabled: ${e.disabled}`),e.pause&&t.push(Qr(e.pause)),e.missed&&t.push(Yr(e.missed));for(let n of e.ends??[])t.push(`${n.fields.join(", ")}: as it is until ${P(n.until)}, then its value of before.`);return[...t,...e.warnings??[]]}function Qr(e){let t=e.until?`Paused until ${P(e.until)}`:"Paused until it is resumed";return e.reason&&(t+=`: ${e.reason}`),e.stop&&(t+=e.drain?`. Holders must stop within ${X(M(e.drain))}`:". Holders must stop"),`${t}. By ${e.author||"somebody"}.`}function Yr(e){let t=I(e.kind,"MISSED_KIND_");return e.text||`Missed: ${t}${e.reason?` (${I(e.reason,"REASON_")})`:""}`}var j=e=>`${e?.acquirer??""} in ${e?.group||"default"}`;function Ro(e){let t=I(e.state,"PERMIT_STATE_")||"live";t==="held"&&(t="held for an operator"),e.drain_left&&(t+=`, draining for ${X(M(e.drain_left))}`);let n=I(e.stop,"STOP_CAUSE_");return n&&(t+=`, stopping: ${n}${e.stop_reason?` (${e.stop_reason})`:""}`),t}var Do=e=>e.state==="PERMIT_STATE_HELD"||e.stop?"stop":e.state==="PERMIT_STATE_COOLING"?"idle":"run";function Fe(e){return e?e.due?`${e.name}@${e.due.replace(/\.000Z$/,"Z")}`:e.name:""}var de=[{name:"description",kind:"text",label:"Description",help:"Free text for people."},{name:"labels",kind:"labels",label:"Labels",help:"One key=value per line. Commands and filters select by them."},{name:"group_pattern",kind:"pattern",label:"Group pattern",help:"A regular expression (RE2) that the whole group must match."},{name:"acquirer_pattern",kind:"pattern",label:"Acquirer pattern",help:"The same for the acquirer, normally a host."},{name:"permits",kind:"number",label:"Permits",help:"How much weight may be held at once. 0 lets nobody in."},{name:"duration",kind:"duration",label:"Duration",help:"How long a permit lives without a refresh. It bounds how long a dead holder keeps its slot."},{name:"max_hold",kind:"duration",label:"Max hold",help:"A job that holds longer must stop. Empty: no limit."},{name:"min_hold",kind:"duration",label:"Min hold",help:"The slot stays taken at least this long after a grant."},{name:"loss_delay",kind:"duration",label:"Loss delay",help:"After a lost holder the slot stays taken this much longer."},{name:"on_expiry",kind:"choice",prefix:"ON_EXPIRY_",values:["FREE","HOLD"],label:"On expiry",help:"What becomes of the slot of a permit that expired. hold: until an operator clears it."},{name:"takeover",kind:"flag",label:"Takeover",help:"Callers may take over from a holder that they judge dead."},{name:"expect_every",kind:"duration",label:"Expect every",help:"How often this work is expected to ask. Empty: nothing is expected."},{name:"firing_on_loss",kind:"choice",prefix:"FIRING_ON_LOSS_",values:["SPENT","FREE"],label:"Firing on loss",help:"What becomes of a firing whose permit was lost. free: it may be claimed again."},{name:"firing_retention",kind:"duration",label:"Firing retention",help:"How long a firing is remembered after its due time."},{name:"firing_limit",kind:"number",label:"Firing limit",help:"How many firings are remembered at most."},{name:"firing_max_ahead",kind:"duration",label:"Firing max ahead",help:"How far ahead of the leader’s clock a firing may be due. 0: any."},{name:"max_attempts",kind:"number",label:"Max attempts",help:"How many holders may attempt a firing. 0: any number."},{name:"misfire",kind:"choice",prefix:"MISFIRE_",values:["SKIP","ONCE","EACH"],label:"Misfire",help:"What becomes of firings that nobody claimed when they were due."},{name:"misfire_window",kind:"duration",label:"Misfire window",help:"How long ago such a firing may have been due."}];function Pe(e,t){let n=t?.[e.name];switch(e.kind){case"labels":return Object.keys(n??{}).sort().map(o=>n[o]===""?o:`${o}=${n[o]}`).join(", ");case"duration":return Ye(n);case"choice":return I(n,e.prefix)||e.values[0].toLowerCase();case"flag":return n?"yes":"no";case"number":return String(n??0)}return n??""}function dn(e,t){return de.map(n=>({field:n,before:Pe(n,e),after:Pe(n,t)})).filter(n=>n.before!==n.after)}var mn=(e=[],t=e.length,n=2)=>{let o=e.slice(0,n).map(a=>`${a.acquirer} in ${a.group}`),s=t-o.length;return o.join(", ")+(s>0?` and ${b(s)} more`:"")};function Oo(e=[]){let t=e.flatMap(a=>a.stopped??[]);if(t.length===0)return"No holder must stop.";let n=t.filter(a=>a.drain_left).length,o=[];t.length>n&&o.push(`${O(t.length-n,"holder","holders")} must stop`),n&&o.push(`the ${n===1?"drain of 1 holder is":`drains of ${n} holders are`} cut short`);let s=`${o.join(", ")}; every slot is free within ${X(Math.max(...t.map(a=>M(a.free_within))))}.`;return s[0].toUpperCase()+s.slice(1)}function Ao(e=[],t=[]){let n=new Map;for(let o of e)for(let s of o.warnings??[])n.set(s,[...n.get(s)??[],o.semaphore]);return[...t,...[...n].map(([o,s])=>`${Le(s)}: ${o}`)]}var Xr=e=>`${e.length===1?"change":"changes"} ${Le(e,5)}`;function fn(e){let t=[];return e.group_pattern&&t.push(`group ${e.group_pattern}`),e.acquirer_pattern&&t.push(`acquirer ${e.acquirer_pattern}`),e.until&&t.push(`until ${P(e.until)}`),t.join(", ")}function Io(e){let t=[],n=I(e.kind,"EVENT_KIND_");e.until&&n!=="resumed"&&t.push(`until ${P(e.until)}`);let o=e.pause;if(o&&n!=="resumed"&&((n==="created"||n==="deleted")&&t.push("while paused"),o.until&&t.push(`until ${P(o.until)}`),o.stop&&t.push(o.drain?`holders must stop within ${X(M(o.drain))}`:"holders must stop")),e.pause_before&&t.push(`instead of the pause of change ${e.pause_before.change}`),e.cordon&&t.push(`“${e.cordon.id}”, ${fn(e.cordon)}`),e.cordon_before&&t.push(`instead of that of change ${e.cordon_before.change}`),e.firings?.firings?.length){let a=e.firings.firings.map(l=>Fe(l.firing)),i=n==="firings remembered"?"remembered again":"forgotten";t.push(`${O(a.length,"firing","firings")} ${i} (${Le(a)})`)}(e.binding_before||e.binding_after)&&t.push(`binding ${(e.binding_after??e.binding_before).name}`),e.undoes&&e.undoes!=="0"&&t.push(`undoes ${Xr([e.undoes,...e.also_undoes??[]])}`),e.permit&&t.push(`${j(e.permit.identity)}, token ${e.permit.token}`);let s=I(e.missed,"MISSED_KIND_");return s&&t.push(s),e.drain&&t.push(`drain ${X(M(e.drain))}`),[...new Set(t)].join("; ")}var Zr={created:"run",replaced:"accent",deleted:"deny",paused:"pause",resumed:"run",cordoned:"deny",uncordoned:"run",granted:"run",released:"idle",expired:"stop",held:"stop",cleared:"run",stopping:"stop",missed:"stop",heard:"run","freed unsafely":"deny"},No=e=>Zr[I(e,"EVENT_KIND_")]??"idle",Mo=e=>["CREATED","REPLACED","DELETED","PAUSED","RESUMED","CORDONED","UNCORDONED","FIRINGS_FORGOTTEN","FIRINGS_REMEMBERED"].includes(e.kind?.slice(11));function hn(e){let t=I(e.role,"ROLE_");return e.semaphores?.length&&(t+=` on ${e.semaphores.join(", ")}`),e.labels&&(t+=` where ${e.labels}`),e.group&&(t+=` in group ${e.group}`),e.acquirer&&(t+=` as acquirer ${e.acquirer}`),t}function z({caption:e,columns:t,rows:n,rowKey:o,empty:s,note:a}){return n?.length?r`<div class="table-wrap">
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
  </div>`:s??r`<${A} title="Nothing here." />`}function Se({of:e}){return r`<dl class="facts">
    ${e.filter(([,t])=>t!=null&&t!=="").map(([t,n])=>r`<div><dt>${t}</dt><dd>${n}</dd></div>`)}
  </dl>`}function $e({share:e,tone:t="accent",label:n}){let o=Math.max(0,Math.min(1,e||0));return r`<span class="bar tone-${t}" role="img" aria-label=${n}>
    <span class="bar-fill" style=${{transform:`scaleX(${o.toFixed(4)})`}}></span>
  </span>`}function qt({at:e,of:t,what:n="expires unless it is refreshed"}){if(De(),!e)return r`<span class="faint">–</span>`;let o=Math.max(0,e-Date.now()),s=t&&o/t<.34;return r`<span class="deadline" title=${n}>
    ${t>0&&r`<${$e} share=${o/t} tone=${s?"wait":"run"} label="${nt(o)} left" />`}
    <span class="num">${nt(o)}</span>
  </span>`}function le({at:e}){return De(),e?r`<time class="num" datetime=${e} title=${new Date(e).toLocaleString()}>${nt(tt()-Date.parse(e))}</time>`:"–"}function Lo({parts:e,total:t,label:n}){let o=0;return r`<svg class="segments" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label=${n}>
    <rect class="track" x="0" y="0" width="1000" height="10" />
    ${e.filter(([s])=>s>0).map(([s,a])=>{let i=t?1e3*s/t:0,l=r`<rect class="fill-${a}" x=${o} y="0" width=${i} height="10" />`;return o+=i,l})}
  </svg>`}var je=50;function $n({before:e,after:t}){if(!e&&!t)return null;if(!e)return r`<span>created</span>`;if(!t)return r`<span>deleted</span>`;let n=dn(e,t);return n.length===0?r`<span class="faint">–</span>`:r`<ul class="changes">
    ${n.map(o=>r`<li>
        <span class="change-name">${o.field.name}</span>
        <del>${o.before||"(none)"}</del><span class="sr-only"> becomes </span><ins>${o.after||"(none)"}</ins>
      </li>`)}
  </ul>`}function es({effects:e}){let t=e.flatMap(n=>n.stopped??[]);return t.length===0?null:r`<section>
    <h3>Must stop</h3>
    <${z}
      caption="Holders that must stop"
      rows=${t.slice(0,je)}
      rowKey=${n=>n.permit.token}
      columns=${[["Semaphore",n=>n.permit.semaphore,"name"],["Holder",n=>j(n.permit.identity),"name"],["Token",n=>n.permit.token,"num"],["Since",n=>r`<${le} at=${n.permit.granted_at} />`,"num"],["Free within",n=>X(M(n.free_within))+(n.drain_left?` (its drain had ${X(M(n.drain_left))} left)`:""),"num"]]}
      note=${t.length>je&&`and ${b(t.length-je)} more`}
    />
  </section>`}function Po({of:e}){let t=e.effects??[],n=t.filter(i=>i.total_admitted||i.total_shut_out||!i.before!=!i.after||dn(i.before,i.after).length),o=Ao(t,e.warnings),s=t.flatMap(i=>i.held??[]),a=t.filter(i=>Number(i.waiting_tasks));return r`<div class="effects">
    <p class="lead">${Oo(t)}</p>
    ${e.confirm?.length>0&&r`<ul class="confirm">${e.confirm.map(i=>r`<li>${i.text}</li>`)}</ul>`}
    ${o.length>0&&r`<ul class="warnings">${o.slice(0,20).map(i=>r`<li>${i}</li>`)}</ul>`}
    ${n.length>0&&r`<section>
      <h3>${O(n.length,"semaphore changes","semaphores change")}</h3>
      <${z}
        caption="Semaphores that change"
        rows=${n.slice(0,je)}
        rowKey=${i=>i.semaphore}
        columns=${[["Semaphore",i=>i.semaphore,"name"],["Changes",i=>r`<${$n} before=${i.before} after=${i.after} />`],["Lets in",i=>mn(i.admitted,i.total_admitted??0)||"–"],["Shuts out",i=>mn(i.shut_out,i.total_shut_out??0)||"–"],["Stops",i=>b(i.stopped?.length),"num"],["Continue",i=>b(i.unaffected),"num"]]}
        note=${n.length>je&&`and ${b(n.length-je)} more`}
      />
    </section>`}
    <${es} effects=${t} />
    ${s.length>0&&r`<section><h3>Held for an operator</h3>
      <ul>${s.slice(0,je).map(i=>r`<li>${i.semaphore}: the permit of ${j(i.identity)} (token ${i.token}) expired. Its slot stays taken until it is cleared.</li>`)}</ul>
    </section>`}
    ${a.length>0&&r`<ul>${a.slice(0,je).map(i=>r`<li>${i.semaphore}: ${O(i.waiting_tasks,"task waits","tasks wait")} for a worker${i.tasks_run?`; after this change, ${i.tasks_run}`:""}.</li>`)}</ul>`}
  </div>`}function me(e){let{title:t,verb:n,kind:o,preview:s,run:a,done:i,onClose:l,onDone:u,onError:d,role:c,semaphore:h,nothing:m,deps:p,extra:f,children:v}=e,[g,x]=$(0),y=E(s,[t,g,p],{keep:!0}),N=y.loading||y.error,[L,k]=$(""),[G,se]=$(!1),[oe,re]=$(null),Y=Q(null),w=y.data&&m?.(y.data);S(()=>{y.error&&d?.(y.error)&&l()},[y.error]),S(()=>{Y.current=null},[JSON.stringify(p)]);let D=()=>{Y.current=null,re(null),x(g+1)};async function _(V){if(V.preventDefault(),!(G||N||w)){se(!0),re(null),Y.current??=At();try{let R=await a({reason:L,...pe(),...Y.current},y.data),H=R.revision??R.change,et=H&&H!=="0"?{text:"Undo",run:()=>Xe(H)}:void 0;he(i(R),{action:et}),u?.(R,y.data),l()}catch(R){R.code!=="UNAVAILABLE"&&(Y.current=null),re(R),se(!1),d?.(R)&&l()}}}return r`<${ce} title=${t} onClose=${l} wide>
    <form onSubmit=${_}>
      ${v}
      <${B} of=${y} what="Asking what this would do">
        ${V=>r`${f?.(V)}<${Po} of=${V} />${V.notes?.length>0&&r`<ul>${V.notes.map(R=>r`<li>${R}</li>`)}</ul>`}
        ${w&&r`<p class="lead">${w}</p>`}`}
      <//>
      <${F} label="Reason" help="For the journal: why you do this." value=${L} onInput=${k} maxlength="1024" />
      ${oe&&r`<${W} error=${oe} retry=${/CHANGED_SINCE|STALE|CONFLICT/.test(oe.reason)?D:void 0} />`}
      <p class="row end">
        <button type="button" onClick=${l}>Cancel</button>
        <${U} role=${c} semaphore=${h} type="submit" kind=${o??"primary"} why=${N?"There is no preview yet.":w}>
          ${G?"Working …":typeof n=="function"?n(y.data??{}):n}
        <//>
      </p>
    </form>
  <//>`}var gn=ue(null);function Xe(e,t){gn.set({change:String(e),onDone:t})}function Fo(){let e=J(gn);return e?r`<${me}
    key=${e.change}
    title=${`Undo change ${e.change}`}
    verb="Undo it"
    preview=${()=>C("/v1/undo",{change:e.change,dry_run:!0,...pe()})}
    nothing=${t=>t.undone_by&&t.undone_by!=="0"?`It was undone already, by change ${t.undone_by}.`:t.nothing?"Nothing is left to undo.":""}
    run=${(t,n)=>C("/v1/undo",{change:e.change,plan:n.plan,...t})}
    done=${()=>`Change ${e.change} is undone.`}
    onDone=${e.onDone}
    onClose=${()=>gn.set(null)}
  />`:null}var ts=[["/","Overview"],["/move","Move and pause"],["/activity","Activity"],["/jobs","Jobs"],["/cluster","Cluster"],["/access","Access"]],_n=Ct("theme","auto");_n.subscribe(e=>{e==="auto"?delete document.documentElement.dataset.theme:document.documentElement.dataset.theme=e});function ns(){let e=J(_n),t={auto:"light",light:"dark",dark:"auto"}[e];return r`<button type="button" class="plain" onClick=${()=>_n.set(t)} title="Theme: ${e}. Click for ${t}.">
    <svg class="glyph" viewBox="0 0 16 16" aria-hidden="true">
      <circle cx="8" cy="8" r="6" /><path class="solid" d=${e==="auto"?"M8 2a6 6 0 0 1 0 12z":e==="dark"?"M8 2a6 6 0 0 1 0 12 6 6 0 0 1 0-12z":"M8 8z"} />
    </svg>
    <span class="sr-only">Theme: ${e}. Change to ${t}</span>
  </button>`}var os=[["/","Search"],["↑ ↓","Move in a list; Home, End, Page Up and Page Down too"],["Enter","Open"],["Esc","Leave a field, close a dialog, or go back"],["g then o, m, a, j, c","Overview, Move and pause, Activity, Jobs, Cluster"],["?","These keys"]];function rs({onClose:e}){return r`<${ce} title="Keys" onClose=${e}>
    <dl class="keys">${os.map(([t,n])=>r`<div><dt><kbd>${t}</kbd></dt><dd>${n}</dd></div>`)}</dl>
  <//>`}function ss(){let e=J(Ee),t=J(Mt),[n,o]=$(!1);if(!e)return null;let s=e.authenticated?e.principal||e.credential:t||"dashboard";return r`<button type="button" class="plain who" onClick=${()=>o(!0)}><span class="sr-only">You are </span>${s}</button>
    ${n&&r`<${ce} title="You" onClose=${()=>o(!1)}>
      ${e.authenticated?r`<p>The servers see you as <strong>${e.principal}</strong>, by ${e.credential}. <a href="/access">What you may do</a></p>
            <p class="row end"><button type="button" onClick=${()=>ho().finally(()=>location.assign("/login"))}>Log out</button></p>`:r`<p>These servers do not authenticate callers: everybody may do everything.</p>
            <${F} label="Your name" help="The journal shows it as the author of your changes. Nobody checks it." value=${t} onInput=${a=>Mt.set(a)} maxlength="256" />
            <p class="row end"><button type="button" class="primary" onClick=${()=>o(!1)}>Done</button></p>`}
    <//>`}`}function as(){let t=E(n=>T("/v1/status",{},n),["status"],{every:1e4,keep:!0}).data;return t?r`<a class="leader" href="/cluster">
    ${t.leader_id?r`<span class="lamp tone-run" aria-hidden="true"></span><span>${t.leader_id}<span class="long"> leads</span></span>`:r`<span class="lamp tone-deny" aria-hidden="true"></span>no leader`}
  </a>`:r`<a class="leader" href="/cluster"><span class="sr-only">Cluster: </span>…</a>`}var is={o:"/",m:"/move",a:"/activity",j:"/jobs",c:"/cluster"};function vn({children:e,bare:t}){let n=J(Ge).split("?")[0],[o,s]=$(!1),a=Q(null),i=Q(!0),l=Q(0);return S(()=>{if(i.current){i.current=!1;return}scrollTo(0,0),a.current?.querySelector("h1")?.focus()},[n]),To({"?":()=>s(!0),"/":u=>{let d=document.querySelector("[data-search]");d&&(u.preventDefault(),d.focus(),d.select())},Escape:(u,d)=>{d?u.target.blur():n!=="/"&&co()},g:()=>l.current=Date.now(),...Object.fromEntries(Object.entries(is).map(([u,d])=>[u,()=>Date.now()-l.current<1500&&document.querySelector(`.nav a[href="${d}"]`)?.click()]))}),r`<a class="skip" href="#main">Skip to the content</a>
    ${!t&&r`<header class="top">
      <a class="brand" href="/"><img src="/assets/icon.svg" alt="" width="24" height="24" />Gatekeeper</a>
      <nav class="nav" aria-label="Views">
        ${ts.map(([u,d])=>{let c=u==="/"?n==="/"||n.startsWith("/s/"):n===u||n.startsWith(`${u}/`);return r`<a href=${u} aria-current=${c?"page":void 0}>${d}</a>`})}
      </nav>
      <div class="tools">
        <${as} />
        <${ss} />
        <${ns} />
        <button type="button" class="plain" onClick=${()=>s(!0)} title="Keys"><span aria-hidden="true">?</span><span class="sr-only">Keys</span></button>
      </div>
    </header>`}
    <${ko} />
    <main id="main" tabindex="-1" ref=${a}>${e}</main>
    <${Eo} />
    <${Fo} />
    ${o&&r`<${rs} onClose=${()=>s(!1)} />`}`}function Z({children:e,aside:t}){return r`<div class="title"><h1 tabindex="-1">${e}</h1>${t&&r`<div class="row">${t}</div>`}</div>`}var jo=[["viewer","–","see definitions, permits, queues, history, jobs and status"],["acquirer","viewer","acquire, keep and release permits, take over, verify, submit jobs and work on them"],["verifier","–","verify permits, for a guarded resource"],["operator","viewer","pause, move, cordon, revoke and clear; cancel, retry and delete jobs; undo these"],["editor","viewer","create, replace and delete definitions; undo that"],["admin","all","everything, also change members, settings, bindings and tokens"]];function ls(){let[e,t]=$({role:"ROLE_OPERATOR",semaphore:""}),[n,o]=$(null),[s,a]=$(null);return r`<section class="panel stack">
    <h2>May I?</h2>
    <form class="form" onSubmit=${l=>{l.preventDefault(),C("/v1/can-i",{role:e.role,semaphore:e.semaphore.trim()}).then(u=>(o(u),a(null)),a)}}>
      <${ke} label="Role" value=${e.role} onChange=${l=>t({...e,role:l})} options=${jo.map(([l])=>[`ROLE_${l.toUpperCase()}`,l])} />
      <${F} label="On semaphore" value=${e.semaphore} onInput=${l=>t({...e,semaphore:l})} help="Empty: anywhere." />
      <p class="row full"><button class="primary">Ask</button></p>
    </form>
    <div role="status">
      ${n&&(n.allowed?r`<p class="lead tone-run">Yes.</p>`:r`<p class="lead"><strong class="tone-deny">No.</strong> ${n.reason}</p>`)}
    </div>
    ${s&&r`<${W} error=${s} />`}
  </section>`}function cs(){let e=E(t=>T("/v1/bindings",{},t),["bindings"]);return e.error?e.error.code==="PERMISSION_DENIED"?r`<${A} title="Only administrators see who may do what." />`:r`<${W} error=${e.error} retry=${e.refresh} />`:e.data?r`<${z}
      caption="Bindings"
      rows=${e.data.bindings}
      rowKey=${t=>t.name}
      empty=${r`<${A} title="There are no bindings." />`}
      columns=${[["Name",t=>t.name,"name"],["Subjects",t=>(t.subjects??[]).join(", ")||"–","name"],["May",t=>r`<ul class="changes">${(t.grants??[]).map(n=>r`<li>${hn(n)}</li>`)}</ul>`],["Tokens",t=>(t.tokens??[]).map(n=>`${n.id}${n.expires_at?` until ${P(n.expires_at)}`:""}`).join(", ")||"–"],["Changed",t=>`${P(t.updated_at)}${t.updated_by?` by ${t.updated_by}`:""}`,"num"]]}
    />
    <p class="faint">Change them with <code>gkctl auth bind</code>, <code>unbind</code> and <code>token</code>.</p>`:r`<${ye} what="Reading the bindings" />`}function qo(){ne("Access");let e=J(Ee);return r`<${Z}>Access<//>
    <div class="stack">
      <section class="panel">
        <h2>You</h2>
        ${e?e.authenticated?r`<${Se} of=${[["Principal",e.principal],["Credential",e.credential],["You may",(e.grants??[]).map(hn).join("; ")||"nothing"],["Acquirers",(e.acquirers??[]).join(", ")]]} />`:r`<p>These servers do not authenticate callers: everybody may do everything.</p>`:r`<${ye} what="Asking who you are" />`}
      </section>
      <div class="panels">
        <${ls} />
        <section class="panel"><h2>Roles</h2>
          <${z} caption="Roles" rows=${jo} columns=${[["Role",t=>t[0]],["Includes",t=>t[1]],["May",t=>t[2]]]} />
        </section>
      </div>
      <section class="panel"><h2>Who may do what</h2><${cs} /></section>
    </div>`}var us=["EVENT_KIND_CREATED","EVENT_KIND_REPLACED","EVENT_KIND_DELETED"],ps=e=>us.includes(e)?"ROLE_EDITOR":"ROLE_OPERATOR";function gt({entries:e,semaphore:t,onChange:n}){let o="";return r`<ol class="entries">
    ${e.map(s=>{let a=s.revision!==o;return o=s.revision,r`<li key=${`${s.revision}.${s.ordinal??0}`} class=${a?"":"same"}>
        <div class="entry-head">
          <time class="num" datetime=${s.at} title=${P(s.at)}>${ot(s.at)}</time>
          <span class="tag tone-${No(s.kind)}">${I(s.kind,"EVENT_KIND_")}</span>
          ${!t&&s.semaphore&&r`<a class="mono" href=${`/s/${encodeURIComponent(s.semaphore)}`}>${s.semaphore}</a>`}
          <span class="grow">${Io(s)}</span>
          <span class="faint"><a href=${`/activity?change=${s.revision}`}>change ${s.revision}</a>${s.author&&` by ${s.author}`}</span>
          ${a&&Mo(s)&&r`<${U} role=${ps(s.kind)} semaphore=${s.semaphore??""} onClick=${()=>Xe(s.revision,n)}>Undo …<//>`}
        </div>
        ${s.reason&&r`<p class="entry-reason">${s.reason}</p>`}
        ${s.before&&s.after&&r`<${$n} before=${s.before} after=${s.after} />`}
      </li>`})}
  </ol>`}function Uo(){ne("Activity");let[e,t]=q(),n=e.get("change")??"";return r`<${Z} aside=${n&&r`<a class="button" href="/activity">All activity</a>`}>${n?`Change ${n}`:"Activity"}<//>
    ${n?r`<${fs} change=${n} />`:r`<${ms} params=${e} change=${t} />`}`}var ds=e=>e.split(/[\s,]+/).filter(Boolean).map(t=>/[*?[]/.test(t)?t:`*${t}*`);function ms({params:e,change:t}){let[n,o]=we(e.get("q")??"",g=>t({q:g}),300),[s,a]=we(e.get("labels")??"",g=>t({labels:g}),400),i=e.get("permits")==="1",l=e.get("by")??"",[u,d]=we(l,g=>t({by:g}),300),[c,h]=$(50),m={names:ds(e.get("q")??""),labels:e.get("labels")??"",permits:i},p=E(g=>T("/v1/history",{...m,page_size:c},g),["journal",m,c],{every:15e3,keep:!0}),f=Oe(p.refresh,i?500:60);Te("/v1/watch",m,{message:({events:g=[]})=>g.length&&f(),missed:f,open:g=>g&&f()});let v=(p.data?.entries??[]).filter(g=>!l||(g.author??"").toLowerCase().includes(l.toLowerCase()));return r`<form class="filters" role="search" onSubmit=${g=>g.preventDefault()}>
      <div class="field grow"><label for="activity-q">Semaphores <kbd aria-hidden="true">/</kbd></label><input id="activity-q" data-search value=${n} onInput=${g=>o(g.target.value)} placeholder="part of a name, or a glob" spellcheck=${!1} autocomplete="off" /></div>
      <div class="field"><label for="activity-by">By</label><input id="activity-by" value=${u} onInput=${g=>d(g.target.value)} spellcheck=${!1} autocomplete="off" /></div>
      <div class="field"><label for="activity-labels">Labels</label><input id="activity-labels" value=${s} onInput=${g=>a(g.target.value)} spellcheck=${!1} autocomplete="off" /></div>
      <${ie} label="Also how permits ended" checked=${i} onChange=${g=>t({permits:g?"1":""})} />
    </form>
    <section class="panel">
      <${B} of=${p} what="Reading the journal">
        ${g=>r`
          ${v.length?r`<${gt} entries=${v} onChange=${p.refresh} />`:r`<${A} title="The journal has nothing of that.">Edits, pauses, cordons and undos appear here as they happen.<//>`}
          ${g.next_page_token&&c<1e3&&r`<p class="row"><button type="button" onClick=${()=>h(Math.min(1e3,c*4))}>Show more</button></p>`}`}
      <//>
    </section>`}function fs({change:e}){let t=E(n=>T("/v1/history",{change:e,page_size:1e3},n),["change",e]);return r`<section class="panel">
    <${B} of=${t} what="Reading the journal">
      ${({entries:n=[],missing:o,next_page_token:s})=>r`
        ${o&&r`<p class="note">The journal has forgotten a part of this change${o.semaphores?.length?`: ${o.semaphores.join(", ")}`:""}.</p>`}
        ${n.length?r`<${gt} entries=${n} onChange=${t.refresh} />`:r`<${A} title=${`The journal has no change ${e}.`} />`}
        ${s&&r`<p class="faint">Only its first 1,000 entries are shown.</p>`}
        ${n.length>0&&n[0].undoes&&r`<p><a href=${`/activity?change=${n[0].undoes}`}>The change that it undoes</a></p>`}`}
    <//>
  </section>`}var Ut="M4 14V2",Ho={idle:[Ut,"M4 4l8-2"],running:[Ut,"M4 3l9 4v-3l-9-2z"],waiting:[Ut,"M4 5h9","M8 9h1M11 9h1M14 9h0"],paused:["M5.5 3v10","M10.5 3v10"],stopping:[Ut,"M4 4h9v4H4z"],"held for an operator":["M5 7V5a3 3 0 0 1 6 0v2","M4 7h8v6H4z"],missed:["M8 2a6 6 0 1 0 .1 0z","M8 5v3.5l2.5 1.5"],denied:["M8 2a6 6 0 1 0 .1 0z","M4.5 8h7"],disabled:["M3.5 3.5l9 9","M12.5 3.5l-9 9"],cordoned:["M8 2a6 6 0 1 0 .1 0z","M4 4l8 8"]};function bn({word:e}){let t=Ho[e]??Ho.idle;return r`<svg class="glyph" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    ${t.map(n=>r`<path d=${n} />`)}
  </svg>`}function _t({value:e,text:t}){let n=So(e);return r`<span class="state tone-${n.tone}"><${bn} word=${n.word} /><span>${t??n.word}</span></span>`}function Wo({record:e}){let t=$t(e)[0];return r`<${_t} value=${t?.value} text=${Co(e)} />`}function Ht({tone:e="idle",children:t}){return r`<span class="tag tone-${e}">${t}</span>`}var hs=()=>E(e=>T("/v1/cordons",{},e),["cordons"],{every:15e3,keep:!0});function qe(){let e=hs(),[t,n]=$(null),o=e.data?.cordons??[];if(o.length===0)return null;let s=a=>C("/v1/uncordon",{id:a.id,...pe(),...At()}).then(i=>{he(`Cordon ${a.id} is ended.`,{action:{text:"Undo",run:()=>Xe(i.revision,e.refresh)}}),n(null),e.refresh()},n);return r`<section class="cordons" aria-label="Cordons in force">
    <${W} error=${t} />
    <ul>
      ${o.map(a=>r`<li key=${a.id}>
          <span class="state tone-deny"><${bn} word="cordoned" />cordoned</span>
          <span class="grow">${fn(a)}${a.reason&&`: ${a.reason}`}${a.author&&r`<span class="faint"> by ${a.author}</span>`}</span>
          <${U} role="ROLE_OPERATOR" onClick=${()=>s(a)}>End it<//>
        </li>`)}
    </ul>
  </section>`}function $s({member:e,onClose:t,onDone:n}){let[o,s]=$(null);return r`<${ce} title="Hand leadership over" onClose=${t}>
    <form onSubmit=${i=>{i.preventDefault(),C("/v1/leadership:transfer",{id:e.id}).then(l=>{he(`${l.leader_id} leads.`),n(),t()},s)}}>
      <p>${e.id} becomes the leader. Permits survive; calls wait a moment.</p>
      <${W} error=${o} />
      <p class="row end"><button type="button" onClick=${t}>Cancel</button><button class="primary">Let ${e.id} lead</button></p>
    </form>
  <//>`}function gs({status:e,onChange:t}){let[n,o]=$(null);return r`<section class="panel">
    <h2>Members</h2>
    <${z}
      caption="Members"
      rows=${e.members}
      rowKey=${s=>s.id}
      columns=${[["Server",s=>r`${s.id}${s.id===e.id&&r`<span class="faint"> (answers you)</span>`}`,"name"],["Role",s=>s.leader?r`<strong class="tone-run">leader</strong>`:s.voter?"follower":"non-voter"],["API",s=>s.api_address||"–","name"],["Peers",s=>s.peer_address||"–","name"],["",s=>s.voter&&!s.leader&&r`<${U} role="ROLE_ADMIN" onClick=${()=>o(s)}>Let it lead …<//>`,"end"]]}
    />
    ${n&&r`<${$s} member=${n} onClose=${()=>o(null)} onDone=${t} />`}
  </section>`}function _s({of:e}){return r`<section class="panel">
    <h2>Certificates</h2>
    <${z}
      caption="Certificates of this server"
      rows=${e}
      empty=${r`<${A} title="This server uses no TLS." />`}
      columns=${[["Port",t=>I(t.port,"CERTIFICATE_PORT_")],["Subject",t=>t.subject||"–","name"],["Ends",t=>{if(t.error)return r`<span class="tone-deny">${t.error}</span>`;let n=Date.parse(t.not_after)-tt();return r`<span class=${n<7*864e5?"tone-deny":n<30*864e5?"tone-wait":""}>${P(t.not_after)}, ${n>0?`in ${X(n)}`:"it has ended"}</span>`}]]}
    />
  </section>`}var vs=e=>M(e)<0?`${ve(-M(e))} behind`:`${ve(M(e))} ahead`;function bs({status:e}){let t=[...(e.member_clocks??[]).map(o=>({name:`server ${o.id}`,ahead:o.ahead})),...(e.host_clocks??[]).map(o=>({name:j(o),ahead:o.ahead,seen:o.seen}))],n=e.role==="SERVER_ROLE_LEADER";return r`<section class="panel">
    <h2>Clocks</h2>
    <${z}
      caption="Clocks that are off"
      rows=${t.slice(0,100)}
      empty=${r`<${A} title=${n?"No clock is off.":"Only the leader compares clocks."} />`}
      columns=${[["Whose",o=>o.name,"name"],["Off by",o=>r`<span class="tone-stop">${vs(o.ahead)}</span>`,"num"],["Seen",o=>o.seen?r`<${le} at=${o.seen} /> ago`:"within the last minute","num"]]}
    />
  </section>`}function ys({status:e}){let t=Number(e.work_bytes??0),n=Number(e.max_work_bytes??0);return r`<section class="panel">
    <h2>Stored for jobs</h2>
    <p class="row"><${$e} share=${n?t/n:0} label="${be(t)} of ${be(n)}" /><span class="num">${be(t)} of ${be(n)}</span></p>
    <${z}
      caption="Semaphores with jobs"
      rows=${e.work}
      empty=${r`<${A} title="There are no jobs." />`}
      columns=${[["Semaphore",o=>r`<a href=${`/s/${encodeURIComponent(o.semaphore)}?tab=tasks`}>${o.semaphore}</a>`,"name"],["Jobs",o=>b(o.jobs),"num"],["Waiting",o=>b(o.waiting),"num"],["Running",o=>b(o.held),"num"],["Stored",o=>be(o.bytes),"num"]]}
    />
  </section>`}function ws(){let e=E(n=>T("/v1/settings",{stale:!0},n),["settings"]),t=(n,o)=>typeof o=="string"&&/s$/.test(o)?ve(M(o)):/bytes/.test(n)?be(o):b(o);return r`<section class="panel">
    <h2>Settings</h2>
    <${B} of=${e} what="Reading the settings">
      ${n=>r`<${Se} of=${Object.entries(n.settings??{}).map(([o,s])=>[o,t(o,s)])} />
        <p class="faint">Change them with <code>gkctl cluster settings NAME=VALUE</code>.</p>`}
    <//>
  </section>`}function Ko(){ne("Cluster");let e=E(t=>T("/v1/status",{},t),["status"],{every:2e3,keep:!0});return r`<${Z}>Cluster<//>
    <${qe} />
    <${B} of=${e} what="Asking this server">
      ${t=>{let n=Number(t.commit_index??0)-Number(t.applied_index??0);return r`<div class="stack">
          ${!t.leader_id&&r`<p class="failure" role="alert">There is no leader. Nothing is granted until a majority of the servers is there.</p>`}
          ${t.recovery_wait&&r`<p class="note">Nothing is granted for another ${X(M(t.recovery_wait))}: a recovery is being waited out.</p>`}
          ${t.insecure&&r`<p class="note">This server was started with --insecure: its ports may be reached without TLS and authentication.</p>`}
          ${t.denied_semaphores>0&&r`<div class="note"><p>${O(t.denied_semaphores,"semaphore is","semaphores are")} asked for in vain:</p>
            <ul>${t.denied.map(o=>r`<li key=${o.semaphore}><a href=${`/s/${encodeURIComponent(o.semaphore)}`}>${o.semaphore}</a>: ${o.text||o.message}</li>`)}</ul></div>`}
          <section class="panel">
            <h2>Server ${t.id}</h2>
            <${Se} of=${[["Cluster",r`<code>${t.cluster_id}</code>`],["Leader",t.leader_id||"none"],["This server is",I(t.role,"SERVER_ROLE_")||"stopping"],["Term",t.term],["Revision",t.revision],["Applied",r`${t.applied_index}${n>0&&r`<span class="tone-wait"> (${b(n)} behind)</span>`}`],["Definitions",b(t.definitions)],["Permits",b(t.permits)],["Waiters",t.role==="SERVER_ROLE_LEADER"?b(t.waiters):"the leader knows"],["Log writes",t.log_writes&&r`<span>${ve(Bo(t.log_writes.median))} median, ${ve(Bo(t.log_writes.longest))} longest, of ${b(t.log_writes.count)}</span>`],["Last snapshot",t.last_snapshot?r`${t.last_snapshot.taken_at?r`<${le} at=${t.last_snapshot.taken_at} /> ago`:`index ${t.last_snapshot.index}`}, ${be(t.last_snapshot.bytes)}`:"none yet"],["Smallest safe duration",t.smallest_duration&&ve(M(t.smallest_duration))],["Version",t.version],["Feature level",t.feature_level],["Up for",t.uptime&&X(M(t.uptime))]]} />
          </section>
          <div class="panels">
            <${gs} status=${t} onChange=${e.refresh} />
            <${_s} of=${t.certificates} />
            <${bs} status=${t} />
            <${ys} status=${t} />
          </div>
          <${ws} />
        </div>`}}
    <//>`}var Bo=e=>+(parseFloat(e??"0")*1e3).toFixed(2);var yn=e=>e.failed?"deny":e.over?"run":I(e.state,"JOB_STATE_")==="cancelled"?"stop":"accent",wn=e=>{let t=I(e.state,"JOB_STATE_");return t==="cancelled"&&!e.over?"cancelled, some tasks still run":t},kn=e=>["waiting","held","done","failed","dropped","cancelled"].filter(t=>e[t]).map(t=>`${b(e[t])} ${t}`).join(", ");function En({job:e}){let t=e.tasks??0,n=`${b(e.done)} of ${O(t,"task","tasks")} done`;return r`<div class="job-progress">
    <${Lo}
      total=${t}
      label="${n}; ${kn(e)}"
      parts=${[[e.done??0,"run"],[e.held??0,"accent"],[e.failed??0,"deny"],[e.dropped??0,"stop"],[e.cancelled??0,"idle"]]}
    />
    <span class="num">${n}</span>
  </div>`}function xn({jobs:e}){return r`<${z}
    caption="Jobs"
    rows=${e}
    rowKey=${t=>t.submitted_revision}
    columns=${[["Job",t=>r`<a href=${`/jobs/${encodeURIComponent(t.spec.id)}`}>${t.spec.id}</a>`,"name"],["Semaphore",t=>r`<a href=${`/s/${encodeURIComponent(t.spec.semaphore)}`}>${t.spec.semaphore}</a>`,"name"],["State",t=>r`<span class="tag tone-${yn(t)}">${wn(t)}</span>`],["Progress",t=>r`<${En} job=${t} />`],["Failed",t=>t.failed?r`<strong class="tone-deny">${b(t.failed)}</strong>`:"0","num"],["Submitted",t=>r`<span title=${P(t.submitted_at)}><${le} at=${t.submitted_at} /> ago</span>${t.spec.author&&r`<div class="sub">by ${t.spec.author}</div>`}`,"num"],["Stored",t=>be(t.bytes),"num"]]}
  />`}function zo(e){return e.away?["away","stop"]:e.draining?["draining","wait"]:e.denied&&e.denied!=="REASON_UNSPECIFIED"?[`denied: ${I(e.denied,"REASON_")}`,"deny"]:e.waiting?["waiting","wait"]:e.tasks?.length?["working","run"]:["idle","idle"]}var ks=e=>e.state==="PERMIT_STATE_HELD"?"lost: clear its slot":e.state==="PERMIT_STATE_COOLING"?`lost: cools for ${X(M(e.expires_in))}`:"";function Tn({data:e}){let t=[...e.workers??[],...e.away??[]];return r`<${z}
    caption="Workers"
    rows=${t}
    rowKey=${(n,o)=>`${n.semaphore} ${j(n.identity)} ${n.identity?.holder_id} ${o}`}
    empty=${r`<${A} title="Nobody works.">A worker is a program that takes tasks, as gkctl work does.<//>`}
    columns=${[["Worker",n=>j(n.identity),"name"],["Semaphore",n=>r`<a href=${`/s/${encodeURIComponent(n.semaphore)}`}>${n.semaphore}</a>`,"name"],["State",n=>r`<span class="tag tone-${zo(n)[1]}">${zo(n)[0]}</span>`],["Free",n=>b(n.free),"num"],["Tasks",n=>n.tasks?.length?r`<ul class="held">${n.tasks.slice(0,8).map(o=>r`<li key=${o.token}><a href=${`/jobs/${encodeURIComponent(o.job)}`}>${o.job}</a> ${b(o.index)}, for <${le} at=${o.granted_at} />
                ${o.progress&&r` <${$e} share=${o.progress.fraction} label="${Math.round(100*(o.progress.fraction??0))} %" /> ${o.progress.text}`} ${ks(o)}</li>`)}${n.tasks.length>8&&r`<li>and ${b(n.tasks.length-8)} more</li>`}</ul>`:"–"]]}
  />`}var Es=[["","any"],["JOB_STATE_OPEN","open"],["JOB_STATE_ENDED","ended"],["JOB_STATE_CANCELLED","cancelled"],["JOB_STATE_RECEIVING","receiving"]];function xs(){let[e,t]=q(),[n,o]=we(e.get("semaphore")??"",c=>t({semaphore:c}),300),[s,a]=we(e.get("labels")??"",c=>t({labels:c}),300),i={semaphore:e.get("semaphore")??"",labels:e.get("labels")??"",states:e.getAll("state")},[l,u]=$(""),d=E(c=>T("/v1/jobs",{...i,page_size:100,page_token:l},c),["jobs",i,l],{every:2e3,keep:!0});return r`<form class="filters" role="search" onSubmit=${c=>c.preventDefault()}>
      <div class="field"><label for="job-semaphore">Semaphore</label><input id="job-semaphore" data-search value=${n} onInput=${c=>o(c.target.value)} spellcheck=${!1} /></div>
      <div class="field"><label for="job-labels">Labels</label><input id="job-labels" value=${s} onInput=${c=>a(c.target.value)} placeholder="team=billing" spellcheck=${!1} /></div>
      <${ke} label="State" value=${e.get("state")??""} onChange=${c=>t({state:c})} options=${Es} />
    </form>
    <section class="panel">
      <${B} of=${d} what="Reading the jobs">
        ${c=>r`
          ${c.jobs?.length?r`<${xn} jobs=${c.jobs} />`:r`<${A} title="No job matches.">Jobs are submitted by programs, or with gkctl job submit.<//>`}
          <p class="row end">
            ${l&&r`<button type="button" onClick=${()=>u("")}>First page</button>`}
            ${c.next_page_token&&r`<button type="button" onClick=${()=>u(c.next_page_token)}>Next page</button>`}
          </p>`}
      <//>
    </section>`}function Ts(){let e=E(t=>T("/v1/workers",{},t),["workers"],{every:2e3,keep:!0});return r`<section class="panel"><${B} of=${e} what="Reading the workers">${t=>r`<${Tn} data=${t} />`}<//></section>`}function Vo(){ne("Jobs");let[e]=q();return r`<${Z}>Jobs<//>
    <${rt} of=${[["jobs","Jobs"],["workers","Workers"]]} label="Jobs and workers" />
    ${e.get("tab")==="workers"?r`<${Ts} />`:r`<${xs} />`}`}function Wt({title:e,text:t,verb:n,run:o,done:s,onClose:a,onDone:i,reason:l}){let[u,d]=$(""),[c,h]=$(null),[m,p]=$(!1);return r`<${ce} title=${e} onClose=${a}>
    <form onSubmit=${async v=>{if(v.preventDefault(),!m){p(!0);try{he(s(await o(u))),i(),a()}catch(g){h(g),p(!1)}}}}>
      <p>${t}</p>
      ${l&&r`<${F} label="Reason" value=${u} onInput=${d} maxlength="1024" />`}
      <${W} error=${c} />
      <p class="row end"><button type="button" onClick=${a}>Cancel</button><button class="primary">${m?"Working …":n}</button></p>
    </form>
  <//>`}function Ss({job:e,onChange:t}){let[n,o]=$(""),{id:s,semaphore:a}=e.spec,i=I(e.state,"JOB_STATE_"),l={onClose:()=>o(""),onDone:t},u=(d,c,h)=>r`<${U} role="ROLE_OPERATOR" semaphore=${a} why=${h} onClick=${()=>o(d)}>${c}<//>`;return r`
    ${u("retry","Retry failed …",e.failed?"":"No task has failed.")}
    ${u("drop","Drop failed …",e.failed?"":"No task has failed.")}
    ${u("cancel","Cancel …",e.over?"The job is over.":i==="cancelled"?"It is cancelled already.":"")}
    ${u("delete","Delete …",e.over?"":"The job is not over. Cancel it first.")}
    ${n==="retry"&&r`<${Wt} ...${l} title="Retry failed tasks" verb="Retry" text=${`${O(e.failed,"failed task is","failed tasks are")} handed out again.`}
      run=${()=>C(ae`/v1/jobs/${s}:retry`,{as_of:e.revision})} done=${d=>`${O(d.tasks??0,"task","tasks")} handed out again.`} />`}
    ${n==="drop"&&r`<${Wt} ...${l} title="Drop failed tasks" verb="Drop" text=${`${O(e.failed,"failed task is","failed tasks are")} given up. They cannot be retried.`}
      run=${()=>C(ae`/v1/jobs/${s}:drop`,{as_of:e.revision})} done=${d=>`${O(d.tasks??0,"task","tasks")} dropped.`} />`}
    ${n==="cancel"&&r`<${Wt} ...${l} title=${`Cancel ${s}`} verb="Cancel the job" reason
      text=${`${O(e.waiting??0,"waiting task is","waiting tasks are")} not executed, and ${O(e.held??0,"running task stops","running tasks stop")}.`}
      run=${d=>C(ae`/v1/jobs/${s}:cancel`,{reason:d,submitted_revision:e.submitted_revision,...pe()})} done=${()=>`${s} is cancelled.`} />`}
    ${n==="delete"&&r`<${Wt} ...${l} title=${`Delete ${s}`} verb="Delete the job" text="The job is removed with its results."
      run=${()=>Qe("DELETE",ae`/v1/jobs/${s}`,{query:{submitted_revision:e.submitted_revision}})} done=${()=>`${s} is deleted.`} onDone=${()=>ge("/jobs")} />`}`}var Jo={waiting:"idle",held:"accent",done:"run",failed:"deny",dropped:"stop",cancelled:"stop"},Cs=[["","any"],...Object.keys(Jo).map(e=>[e,e])];function Rs({job:e,index:t,onClose:n}){let o=E(s=>T(ae`/v1/jobs/${e}/tasks`,{from:t,page_size:1,payloads:!0,results:!0},s),["task",e,t]);return r`<${ce} title=${`Task ${t} of ${e}`} onClose=${n} wide>
    <${B} of=${o} what="Reading the task">
      ${s=>{let a=s.tasks?.[0];return a?r`<${Se} of=${[["State",I(a.state,"TASK_STATE_")],["Attempts",b(a.attempts)],["Worker",a.worker&&j(a.worker)],["Token",a.token],["Returned unfinished",a.returns]]} />
          ${a.failure&&r`<h3>Failure</h3><pre>${a.failure}</pre>`}
          <h3>Payload</h3><pre>${cn(a.payload)||"(none)"}</pre>
          <h3>Result</h3><pre>${cn(a.result)||"(none)"}</pre>`:r`<${A} title="There is no such task." />`}}
    <//>
  <//>`}function Ds({id:e,round:t}){let[n,o]=q(),s=n.get("task")??"",[a,i]=$(0),[l,u]=$(null),d={states:s?[`TASK_STATE_${s.toUpperCase()}`]:[],from:a,page_size:100},c=E(h=>T(ae`/v1/jobs/${e}/tasks`,d,h),["tasks",e,d,t],{keep:!0});return r`<section class="panel">
    <div class="title"><h2>Tasks</h2>
      <${ke} label="In state" value=${s} onChange=${h=>(i(0),o({task:h}))} options=${Cs} /></div>
    <${B} of=${c} what="Reading the tasks">
      ${h=>r`<${z}
          caption="Tasks"
          rows=${h.tasks}
          rowKey=${m=>m.index??0}
          empty=${r`<${A} title="No task is in that state." />`}
          columns=${[["Task",m=>r`<button type="button" class="plain" onClick=${()=>u(m.index??0)}>${b(m.index)}<span class="sr-only">: show payload and result</span></button>`,"num"],["State",m=>r`<span class="tag tone-${Jo[I(m.state,"TASK_STATE_")]}">${I(m.state,"TASK_STATE_")}</span>`],["Attempts",m=>b(m.attempts),"num"],["Worker",m=>m.worker?j(m.worker):"–","name"],["Progress",m=>m.progress?r`<${$e} share=${m.progress.fraction} label=${`${Math.round(100*(m.progress.fraction??0))} %`} /> ${m.progress.text}`:"–"],["Failure",m=>m.failure||"–"]]}
        />
        <p class="row end">
          ${a>0&&r`<button type="button" onClick=${()=>i(0)}>First page</button>`}
          ${h.next>0&&r`<button type="button" onClick=${()=>i(h.next)}>Next page</button>`}
        </p>`}
    <//>
    ${l!==null&&r`<${Rs} job=${e} index=${l} onClose=${()=>u(null)} />`}
  </section>`}function Go({name:e}){ne(e);let t=E(d=>T(ae`/v1/jobs/${e}`,{},d),["job",e],{every:15e3}),[n,o]=$(0),s=Oe(()=>o(d=>d+1),1e3),[a,i]=$(null),l=()=>{t.refresh(),s(),i(null)},u=t.data?.job;return S(()=>{u&&!u.over&&a===null&&i(u.revision)},[u?.over,a]),Te(a!==null?ae`/v1/jobs/${e}:follow`:null,{after_revision:a},{message(d){d.job&&t.set(()=>({job:d.job})),s()},end:l}),t.error?.code==="NOT_FOUND"?r`<${Z}>${e}<//><${A} title="There is no job of this id.">It may have been deleted, or kept for its time. <a href="/jobs">All jobs</a><//>`:u?r`<${Z} aside=${r`<${Ss} job=${u} onChange=${l} />`}>${e}<//>
    <div class="stack">
      <section class="panel stack">
        <p class="row"><span class="tag tone-${yn(u)}">${wn(u)}</span><span>${kn(u)}</span></p>
        <${En} job=${u} />
        ${u.cancel_text&&r`<p class="note">Cancelled ${u.cancel_text}</p>`}
        <${Se} of=${[["Semaphore",r`<a href=${`/s/${encodeURIComponent(u.spec.semaphore)}`}>${u.spec.semaphore}</a>`],["Submitted",`${P(u.submitted_at)}${u.spec.author?` by ${u.spec.author}`:""}`],["Ended",u.ended_at&&`${P(u.ended_at)}, after ${X(Date.parse(u.ended_at)-Date.parse(u.submitted_at))}`],["Priority",u.spec.priority],["Attempts of a task",u.spec.max_attempts],["Timeout",Ye(u.spec.timeout)],["Kept after its end",Ye(u.spec.retention)],["Stored",be(u.bytes)],["Labels",Object.entries(u.spec.labels??{}).map(([d,c])=>`${d}=${c}`).join(", ")]]} />
      </section>
      <${Ds} id=${e} round=${n} />
    </div>`:r`<${Z}>${e}<//>${t.error&&!t.error.offline?r`<${W} error=${t.error} retry=${t.refresh} />`:r`<${ye} what="Reading the job" />`}`}function Qo(){ne("Log in");let[e]=q(),[t,n]=$(""),[o,s]=$(null),[a,i]=$(!1),l=e.get("next")??"/";return r`<div class="login">
    <img src="/assets/icon.svg" alt="" width="48" height="48" />
    <${Z}>Log in to Gatekeeper<//>
    <form onSubmit=${async d=>{d.preventDefault(),i(!0);try{await fo(t.trim()),ge(/^\/(?![/\\])/.test(l)?l:"/",{replace:!0})}catch(c){s(c),i(!1)}}}>
      <${F}
        label="Bearer token"
        help="From gkctl auth token create. It stays in this browser as a cookie that scripts cannot read, for 12 hours."
        type="password"
        autocomplete="current-password"
        value=${t}
        onInput=${n}
        required
        autofocus
      />
      ${o&&r`<${W} error=${o.status===401?{message:"The servers do not know this token. It may have ended, or been revoked."}:o} />`}
      <p class="row end"><button class="primary" disabled=${a||!t.trim()}>${a?"Asking …":"Log in"}</button></p>
    </form>
  </div>`}function Yo({change:e,effects:t,onEnd:n}){let o=fe(()=>t.flatMap(f=>f.stopped??[]),[t]),s=fe(()=>Date.now(),[e]),[a,i]=$({});De();let l=o.filter(f=>!a[f.permit.token]),u=[...new Set(l.map(f=>f.permit.semaphore))],d=fe(()=>u.length<=40?u:[],[e]),c=f=>f.length&&i(v=>({...Object.fromEntries(f),...v})),h=async()=>{let{items:f}=await _e("/v1/holders",{names:d},"permits",void 0,1e5),v=new Map(f.map(g=>[g.token,g]));c(o.filter(g=>!v.has(g.permit.token)).map(g=>[g.permit.token,{how:"gone",after:Date.now()-s}]))};if(Te(o.length?"/v1/watch":null,{names:d,permits:!0,from_revision:String(BigInt(e)+1n)},{message({events:f=[]}){let v=new Set(o.map(g=>g.permit.token));c(f.filter(g=>g.permit&&v.has(g.permit.token)&&g.ended).map(g=>[g.permit.token,{how:I(g.ended,"PERMIT_END_"),after:Date.now()-s}]))},missed:()=>h().catch(()=>{})}),S(()=>{o.length&&l.length===0&&n?.()},[l.length]),o.length===0)return r`<p class="lead">No holder had to stop.</p>`;let m=l.filter(f=>Date.now()-s>M(f.free_within)),p=o.length-l.length;return r`<section class="follow" aria-label="Holders that stop">
    <p class="lead" role="status">
      ${l.length===0?`${O(o.length,"holder has","holders have")} stopped.`:`${b(p)} of ${O(o.length,"holder has","holders have")} stopped.`}
      ${m.length>0&&r` <strong>${O(m.length,"holder","holders")} did not stop in time.</strong>`}
    </p>
    <${$e} share=${p/o.length} tone=${m.length?"stop":"run"} label=${`${p} of ${o.length} stopped`} />
    <${z}
      caption="Holders that must stop"
      rows=${[...m,...l.filter(f=>!m.includes(f)),...o.filter(f=>a[f.permit.token])].slice(0,600)}
      rowKey=${f=>f.permit.token}
      columns=${[["Semaphore",f=>r`<a href=${`/s/${encodeURIComponent(f.permit.semaphore)}`}>${f.permit.semaphore}</a>`,"name"],["Holder",f=>j(f.permit.identity),"name"],["Token",f=>f.permit.token,"num"],["Now",f=>{let v=a[f.permit.token];if(v)return r`<span class="tone-run">${v.how} after ${X(v.after)}</span>`;let g=s+M(f.free_within)-Date.now();return g>0?r`<span class="tone-wait">stops within <span class="num">${nt(g)}</span></span>`:r`<span class="tone-deny">did not stop in time</span>`}]]}
    />
  </section>`}function Ue({lasts:e,until:t}){return e?.trim()?{lasts:xe(e)}:t?{until:new Date(t).toISOString()}:{}}var Ce=e=>e?.trim()?{drain:xe(e)}:{};function He(e){try{return e(),""}catch(t){return t.message}}function Ze({value:e,set:t,without:n="It stays until somebody ends it."}){return r`<${F}
      label="For"
      placeholder="2h"
      value=${e.lasts??""}
      onInput=${o=>t({...e,lasts:o,until:""})}
      error=${He(()=>xe(e.lasts??""))}
      help=${`As 30m or 2h. ${n}`}
    />
    <${F} label="Or until" type="datetime-local" value=${e.until??""} onInput=${o=>t({...e,until:o,lasts:""})} />`}function We({value:e,set:t}){return r`<${F}
    label="Drain"
    placeholder="2m"
    value=${e.drain??""}
    onInput=${n=>t({...e,drain:n})}
    error=${He(()=>xe(e.drain??""))}
    help="How long holders that must stop may continue. Empty: their next refresh is refused."
  />`}var st=100,Xo=(e,t)=>{let n=[];for(let o=Math.floor(e/st);o<=Math.floor(Math.max(e,t-1)/st);o++)n.push(o);return n};function Zo(e){let t=JSON.stringify(e),n=J(Ne),[,o]=$(0),s=()=>o(h=>h+1),a=fe(()=>({pages:new Map,asked:new Map,total:void 0,window:[0,1]}),[t]),i=Q(a);i.current=a;let l=(h,m)=>{if(!m&&(a.pages.has(h)||a.asked.has(h)))return;a.asked.get(h)?.abort();let p=new AbortController;a.asked.set(h,p),T("/v1/definitions",{...e,page_size:st,skip:h*st},p.signal).then(f=>{i.current===a&&(a.asked.delete(h),a.error=void 0,a.pages.set(h,f.records??[]),a.total=f.total??(f.records??[]).length,s())},f=>{p.signal.aborted||i.current!==a||(a.asked.delete(h),a.error=f,s())})},u=(h,m)=>{a.window=[h,m];let p=Xo(h,m);for(let[f,v]of a.asked)p.includes(f)||(v.abort(),a.asked.delete(f));for(let f of p)l(f)},d=()=>{let h=Xo(...a.window);for(let m of a.pages.keys())h.includes(m)||a.pages.delete(m);for(let m of h)l(m,!0)},c=Q(d);return c.current=d,S(()=>(l(0),()=>a.asked.forEach(h=>h.abort())),[t]),S(()=>{n&&c.current()},[n]),S(()=>{let h=setInterval(()=>document.hidden||c.current(),15e3);return()=>clearInterval(h)},[]),{at:h=>a.pages.get(Math.floor(h/st))?.[h%st],total:a.total,error:a.error,want:u,refresh:d,update(h){let m=new Map(h.map(p=>[p.definition.name,p]));for(let p of a.pages.values())p.forEach((f,v)=>{let g=m.get(f.definition.name);g&&(p[v]=g)});s()}}}var er=8,Bt=4;function tr({total:e,height:t,row:n,range:o,open:s,label:a,head:i,columns:l}){let u=Q(null),[d,c]=$([0,30]),[h,m]=$(0),p=Q(!1);ut(()=>{let k=0,G=()=>{k=0;let re=u.current?.getBoundingClientRect();if(!re)return;let Y=Math.max(0,Math.floor(-re.top/t/Bt)*Bt-er),w=Math.min(e,Math.ceil((innerHeight-re.top)/t/Bt)*Bt+er);c(D=>D[0]===Y&&D[1]===w?D:[Y,Math.max(Y,w)])},se=()=>k||=requestAnimationFrame(G);G(),addEventListener("scroll",se,{passive:!0}),addEventListener("resize",se);let oe=new ResizeObserver(se);return oe.observe(document.body),()=>{cancelAnimationFrame(k),removeEventListener("scroll",se),removeEventListener("resize",se),oe.disconnect()}},[e,t]),S(()=>{o?.(d[0],d[1])},[d[0],d[1],e]),ut(()=>{if(!p.current)return;let k=u.current?.querySelector(`[data-row="${h}"]`);k&&(p.current=!1,k.focus({preventScroll:!0}),k.scrollIntoView({block:"nearest"}))});let f=Math.min(h,Math.max(0,e-1)),v=k=>{if(e===0)return;p.current=!0,m(Math.max(0,Math.min(e-1,k)));let G=u.current.getBoundingClientRect().top+scrollY+k*t;(G<scrollY||G>scrollY+innerHeight)&&scrollTo(0,Math.max(0,G-innerHeight/2))},g=Math.max(1,Math.floor(innerHeight/t)-4),x={ArrowDown:()=>v(f+1),ArrowUp:()=>v(f-1),PageDown:()=>v(f+g),PageUp:()=>v(f-g),Home:()=>v(0),End:()=>v(e-1),Enter:()=>s?.(f)},y=k=>{!x[k.key]||k.ctrlKey||k.metaKey||k.altKey||k.key==="Enter"&&k.target.tagName==="A"||(k.preventDefault(),x[k.key]())},N=k=>{let G=k.target.closest("[data-row]");G&&m(Number(G.dataset.row))};S(()=>{let k=()=>v(f);return addEventListener("enter-list",k),()=>removeEventListener("enter-list",k)});let L=[];for(let k=d[0];k<Math.min(d[1],e);k++)L.push(k);return e>0&&(f<d[0]||f>=d[1])&&L.push(f),r`<div class="grid" role="grid" aria-label=${a} aria-rowcount=${e+1} aria-colcount=${l} onKeyDown=${y} onFocusIn=${N}>
    <div class="grid-head" role="row" aria-rowindex="1">${i}</div>
    <div class="grid-body" role="rowgroup" ref=${u} style=${{height:`${e*t}px`}}>
      ${L.map(k=>r`<div
          key=${k}
          class="grid-row"
          role="row"
          aria-rowindex=${k+2}
          data-row=${k}
          tabindex=${k===f?0:-1}
          style=${{transform:`translateY(${k*t}px)`,height:`${t}px`}}
        >${n(k)}</div>`)}
    </div>
  </div>`}function Rn(e){return{search:e.get("q")??"",group:e.get("group")??"",labels:e.get("labels")??"",states:e.getAll("state").map(t=>`DEFINITION_STATE_${t.toUpperCase()}`)}}var Sn=e=>e.value.slice(17).toLowerCase();function Os({counts:e,total:t}){let[n,o]=q(),s=n.getAll("state"),a=i=>o({state:s.includes(i)?s.filter(l=>l!==i):[...s,i]});return r`<div class="states" role="group" aria-label="Filter by state">
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
        <span class="stat-n num">${e?b(l):"–"}</span><span class="stat-w"><${_t} value=${i.value} text=${Sn(i)} /></span>
      </button>`})}
  </div>`}var As=e=>/[,=!()"]/.test(e)?`"${e.replaceAll('"','\\"')}"`:e;function Is({labels:e}){let[t,n]=q(),o=t.get("labels")??"",[s,a]=we(o,c=>n({labels:c}),400),[i,l]=$(""),u=e?.find(c=>c.key===i)?.values??[],d=c=>{c&&(n({labels:[o,c==="*"?i:`${i}=${As(c)}`].filter(Boolean).join(",")}),l(""))};return r`<div class="field">
      <label for="labels">Labels</label>
      <input id="labels" value=${s} placeholder="team=data,tier!=test" onInput=${c=>a(c.target.value)} autocomplete="off" spellcheck=${!1} />
    </div>
    ${e?.length>0&&r`<${ke} label="Add a label" value=${i} onChange=${l} options=${[["","Label …"],...e.map(c=>[c.key,c.key])]} />
      ${i&&r`<${ke} label="Value" value="" onChange=${d} options=${[["","Value …"],["*","any value"],...u.map(c=>[c.value,`${c.value} (${b(c.count)})`])]} />`}`}`}function Ns({summary:e,shown:t}){let[n,o]=q(),[s,a]=we(n.get("q")??"",p=>o({q:p})),[i,l]=we(n.get("group")??"",p=>o({group:p}),400),u=["q","group","labels","state"].filter(p=>n.get(p)),d=E(p=>_e("/v1/known",{},"callers",p),["known"]),c=[...new Set((d.data?.items??[]).map(p=>p.group))].sort(),h=Pt("(min-width: 60rem)");return r`<form class="filters" role="search" onSubmit=${p=>p.preventDefault()}>
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
        <${Is} labels=${e?.labels} />
      </div>
    </details>
    <p class="row filters-end">
      <span class="num" role="status">${t}</span>
      ${u.length>0&&r`<button type="button" onClick=${()=>o({q:"",group:"",labels:"",state:""})}>Clear the filters</button>`}
      <a class="button" href=${`/move?${new URLSearchParams([...n,["from_filter","1"]])}`}>Move or pause these</a>
    </p>
  </form>`}var Cn=["State","Semaphore","In use","Holder","Time left","Queue","Lets in group"];function Ms({record:e,permits:t,live:n}){if(!e)return r`<span class="row-loading" role="gridcell" aria-colspan=${Cn.length}>Reading …</span>`;let o=e.definition,s=t?.[0],a=(e.holders??0)-1,i=jt(e)[0],l=`/s/${encodeURIComponent(o.name)}`,u=Number(e.used??0),d=o.permits??0,c=n?.waiters??e.waiters??0;return r`
    <span class="c-state" role="gridcell"><${Wo} record=${e} /></span>
    <span class="c-name" role="rowheader">
      <a href=${l} tabindex="-1">${o.name}</a>
      <span class="sub">${i??o.description??""}</span>
    </span>
    <span class="c-used num" role="gridcell">
      <${$e} share=${d?u/d:u?1:0} tone=${u>d?"deny":"accent"} label="${u} of ${d} permits in use" />
      <span>${b(u)}<span class="faint"> / ${b(d)}</span></span>
    </span>
    <span class="c-holder" role="gridcell">
      ${s?r`<span class="clip">${j(s.identity)}</span><span class="sub">for <${le} at=${s.granted_at} />${a>0&&` and ${b(a)} more`}</span>`:a>=0?r`<span class="sub">${O(a+1,"holder","holders")}</span>`:r`<span class="faint">–</span>`}
    </span>
    <span class="c-left" role="gridcell">${s?r`<${qt} at=${s.deadline} of=${M(s.duration)} />`:r`<span class="faint">–</span>`}</span>
    <span class="c-queue num" role="gridcell">${c?r`<span class="tag tone-wait">${b(c)}</span>`:r`<span class="faint">0</span>`}</span>
    <span class="c-group" role="gridcell"><code class="clip">${o.group_pattern}</code></span>`}var Ls=6e3;function nr(){ne("Overview");let[e]=q(),t=Rn(e),n=Zo(t),o=Pt("(max-width: 47.99rem)"),s=Pt("(max-width: 63.99rem)"),a=o?104:s?76:52,{search:i,group:l,labels:u}=t,d=E(w=>T("/v1/definitions:summarize",{search:i,group:l,labels:u},w),["summary",i,l,u],{every:15e3,keep:!0}),c=fe(()=>d.data&&new Map((d.data.states??[]).map(w=>[w.state,w.count])),[d.data]),[h,m]=$(new Map),[p,f]=$(new Map),[v,g]=$([]),x=Q(new Set),y=Q([0,0]),N=Oe(()=>{let[w,D]=y.current,_=[],V=0;for(let R=w;R<D&&V<Ls;R++){let H=n.at(R)?.definition.name;H&&(_.push(H),V+=H.length+8)}g(R=>R.join(`
`)===_.join(`
`)?R:_)},150),L=(w,D)=>{y.current=[w,D],n.want(w,D),N()};S(N);let k=async(w,D)=>{let _=Date.now(),{items:V}=await _e("/v1/holders",{names:w},"permits",D),R=new Map(w.map(H=>[H,[]]));for(let H of V)R.get(H.semaphore)?.push({...H,deadline:H.expires_in?_+M(H.expires_in):0});m(H=>new Map([...H,...R]))},G=Oe(async()=>{let w=[...x.current];if(x.current.clear(),w.length===0)return;let[D]=await Promise.all([T("/v1/definitions",{names:w,page_size:1e3}),k(w)]).catch(()=>[]);D&&n.update(D.records??[])},40);S(()=>{if(v.length===0)return;let w=new AbortController;k(v,w.signal).catch(()=>{});let D=setInterval(()=>{document.hidden||(v.forEach(_=>x.current.add(_)),G())},5e3);return()=>{w.abort(),clearInterval(D)}},[v]);let se=()=>{v.forEach(w=>x.current.add(w)),G()};Te(v.length?"/v1/watch":null,{names:v,permits:!0,live_every:"1s"},{open:w=>w&&se(),missed:se,message({events:w=[]}){for(let D of w)D.semaphore&&x.current.add(D.semaphore);G()},live(w){let D=(w.live??w).semaphores??[],_=Date.now();f(new Map(D.map(V=>[V.semaphore,V]))),m(V=>{let R=new Map(V);for(let H of D){let et=new Map((H.deadlines??[]).map(Ke=>[Ke.token,_+M(Ke.expires_in)])),Be=R.get(H.semaphore);Be&&R.set(H.semaphore,Be.map(Ke=>et.has(Ke.token)?{...Ke,deadline:et.get(Ke.token)}:Ke))}return R})}});let oe=w=>{let D=n.at(w);D&&ge(`/s/${encodeURIComponent(D.definition.name)}`)},re=n.total,Y=re===void 0?"…":O(re,"semaphore","semaphores");return r`<${Z} aside=${r`<${Ps} />`}>Overview<//>
    <${qe} />
    <${Os} counts=${c} total=${d.data&&(d.data.total??0)} />
    <${Ns} summary=${d.data} shown=${Y} />
    ${n.error&&!n.error.offline&&r`<${W} error=${n.error} retry=${n.refresh} />`}
    ${re===void 0?!n.error&&r`<${ye} what="Reading the semaphores" />`:re===0?r`<${Fs} filtered=${[...e].length>0} />`:r`<${tr}
            label="Semaphores"
            total=${re}
            height=${a}
            columns=${Cn.length}
            range=${L}
            open=${oe}
            head=${Cn.map(w=>r`<span role="columnheader">${w}</span>`)}
            row=${w=>{let D=n.at(w),_=D?.definition.name;return r`<${Ms} record=${D} permits=${h.get(_)} live=${p.get(_)} />`}}
          />`}`}function Ps(){let[e,t]=$(!1),[n,o]=$("");return r`<${U} role="ROLE_EDITOR" onClick=${()=>t(!0)}>New semaphore …<//>
    ${e&&r`<${ce} title="New semaphore" onClose=${()=>t(!1)}>
      <form onSubmit=${a=>{a.preventDefault(),n.trim()&&ge(`/s/${encodeURIComponent(n.trim())}?tab=rule`)}}>
        <${F} label="Name" value=${n} onInput=${o} maxlength="256" required help="As callers ask for it. It cannot be changed later." />
        <p class="row end"><button type="button" onClick=${()=>t(!1)}>Cancel</button><button class="primary">Write its rule …</button></p>
      </form>
    <//>`}`}function Fs({filtered:e}){return e?r`<${A} title="No semaphore matches.">Remove a filter to see more.<//>`:r`<${A} title="There are no semaphores yet.">Create the first one with <code>gkctl apply -f FILE</code>, or give gatekeeperd a file by <code>--definitions</code>.<//>`}var js=[["move","Move"],["pause","Pause"],["resume","Resume"],["cordon","Cordon"]],or=e=>e.split(/[\n,]/).map(t=>t.trim()).filter(Boolean);function sr(){let[e,t]=q(),[n,o]=$(e.getAll("names").join(`
`)),[s,a]=$(e.get("labels")??""),[i,l]=$(e.get("all")==="1"),[u,d]=$(null),c=Rn(e),h=e.get("from_filter")==="1"&&(c.search||c.group||c.states.length>0);S(()=>{h&&_e("/v1/definitions",c,"records",void 0,1e3).then(({items:p,more:f})=>{o(p.map(v=>v.definition.name).join(`
`)),a(""),t({q:"",group:"",state:"",labels:"",from_filter:""}),f&&d(new Error("More than 1,000 semaphores match. Only the first 1,000 are listed here; choose by a label or a glob instead."))},d)},[]);let m=i?{all:!0}:{...or(n).length&&{names:or(n)},...s.trim()&&{labels:s.trim()}};return{names:n,setNames:o,labels:s,setLabels:a,everything:i,setEverything:l,selector:m,error:u,given:i||n.trim()!==""||s.trim()!==""}}function ar({of:e,optional:t}){let n=E(e.given?a=>T("/v1/definitions",{names:e.selector.names,labels:e.selector.labels,page_size:4},a):null,["chosen",e.selector],{keep:!0}),o=n.data?.records??[],s=n.data?.total??0;return r`<fieldset class="panel stack">
    <legend>Which semaphores</legend>
    <div class="form">
      <${F} label="Names" area=${4} value=${e.names} onInput=${e.setNames} disabled=${e.everything} placeholder="nightly-*" help="One name or glob per line." class="full" data-search />
      <${F} label="Labels" value=${e.labels} onInput=${e.setLabels} disabled=${e.everything} placeholder="team=data,tier!=test" help="Names and labels must both match." />
      <${ie} label="Every semaphore" checked=${e.everything} onChange=${e.setEverything} />
    </div>
    ${e.error&&r`<${W} error=${e.error} />`}
    ${n.error&&!n.error.offline&&r`<${W} error=${n.error} />`}
    <p role="status" class="faint">
      ${e.given?n.data?`${O(s,"semaphore","semaphores")} chosen${o.length?`: ${Le(o.map(a=>a.definition.name),4)}${s>4?" …":""}`:""}`:"Reading …":t??"Choose some, or every one."}
    </p>
  </fieldset>`}function Dn({of:e,onAgain:t}){return r`<section class="panel stack" aria-label="What was done">
    <h2>${e.text}</h2>
    <${Yo} key=${e.change} change=${e.change} effects=${e.effects} />
    <p class="row">
      <a class="button" href=${`/activity?change=${e.change}`}>Change ${e.change}</a>
      <${U} role=${e.role} onClick=${()=>Xe(e.change)}>Undo …<//>
      <button type="button" onClick=${t}>Another one</button>
    </p>
  </section>`}function On(){let[e,t]=$(null);return[e,(o,s)=>(a,i)=>{let l=a.change??a.revision??a.cordon?.revision;l&&l!=="0"&&t({text:o,role:s,change:l,effects:a.effects?.length?a.effects:i.effects??[]})},()=>t(null)]}function ir({id:e}){let t=E(o=>_e("/v1/known",{},"callers",o,5e3),["known"]),n=[...new Set((t.data?.items??[]).map(o=>o.group))].sort();return r`<datalist id=${e}>${n.map(o=>r`<option value=${o} />`)}</datalist>`}function qs({of:e}){let t=(e.not_moved??[]).filter(o=>o.problem),n=(e.not_moved??[]).length-t.length;return r`
    <p class="lead">${e.moves?.length?`${O(e.moves.length,"semaphore moves","semaphores move")}.`:e.mistake?"":"There is nothing to move."}${n>0&&r`<span class="faint"> ${b(n)} need no move.</span>`}</p>
    ${e.mistake&&r`<p class="note">${e.mistake}</p>`}
    ${e.doubts?.length>0&&r`<div class="failure" role="alert"><p class="failure-text">This move is likely a mistake.</p><ul>${e.doubts.map(o=>r`<li>${o}</li>`)}</ul></div>`}
    ${t.length>0&&r`<div class="warnings"><p>${O(t.length,"semaphore has","semaphores have")} to be moved by hand:</p>
      <ul>${t.slice(0,20).map(o=>r`<li><a href=${`/s/${encodeURIComponent(o.semaphore)}?tab=rule`}>${o.semaphore}</a>: ${o.why}</li>`)}</ul></div>`}`}function Us(){let e=sr(),[t]=q(),[n,o]=$({from:t.get("from")??"",to:t.get("to")??"",drain:""}),[s,a]=$(!1),[i,l,u]=On(),d=()=>({selector:e.given?e.selector:{all:!0},from_group:n.from.trim(),to_group:n.to.trim(),...Ce(n.drain),...pe()}),c=!n.from.trim()||!n.to.trim()?"Say from which group to which.":He(()=>Ce(n.drain));return i?r`<${Dn} of=${i} onAgain=${u} />`:r`<form class="stack" onSubmit=${h=>(h.preventDefault(),c||a(!0))}>
    <fieldset class="panel">
      <legend>From where to where</legend>
      <div class="form">
        <${F} label="From group" value=${n.from} onInput=${h=>o({...n,from:h})} list="move-groups" required />
        <${F} label="To group" value=${n.to} onInput=${h=>o({...n,to:h})} list="move-groups" required />
        <${We} value=${n} set=${o} />
        <${ir} id="move-groups" />
      </div>
    </fieldset>
    <${ar} of=${e} optional="Every semaphore that admits the old group, and not the new one. Choose fewer by names or labels." />
    <p class="row end"><${U} role="ROLE_OPERATOR" type="submit" kind="primary" why=${c}>Preview the move …<//></p>
    ${s&&r`<${me}
      title=${`Move from ${n.from} to ${n.to}`}
      verb=${h=>`Move ${O(h.moves?.length??0,"semaphore","semaphores")}`}
      role="ROLE_OPERATOR"
      preview=${async h=>C("/v1/move",{...d(),dry_run:!0},h)}
      extra=${h=>r`<${qs} of=${h} />`}
      nothing=${h=>h.moves?.length?"":h.mistake||"There is nothing to move."}
      run=${async(h,m)=>C("/v1/move",{...d(),expected:m.digest,...h})}
      done=${h=>`${O(h.moves?.length??0,"semaphore","semaphores")} moved from ${n.from} to ${n.to}.`}
      onDone=${l(`Moved from ${n.from} to ${n.to}`,"ROLE_OPERATOR")}
      onClose=${()=>a(!1)}
    />`}
  </form>`}function rr({resume:e}){let t=sr(),[n,o]=$({lasts:"",until:"",stop:!1,drain:"",keep:!0}),[s,a]=$(!1),[i,l,u]=On(),d=()=>e?{selector:t.selector}:{selector:t.selector,...Ue(n),...n.keep&&{keep_paused:!0},...n.stop&&{stop:!0,...Ce(n.drain)}},c=t.given?He(()=>(Ue(n),Ce(n.drain))):"Choose some semaphores first.";if(i)return r`<${Dn} of=${i} onAgain=${u} />`;let h=e?"resume":"pause";return r`<form class="stack" onSubmit=${m=>(m.preventDefault(),c||a(!0))}>
    <${ar} of=${t} />
    ${!e&&r`<fieldset class="panel">
      <legend>How long, and what becomes of running work</legend>
      <div class="form">
        <${Ze} value=${n} set=${o} without="Empty: until it is resumed." />
        <${ie} label="Stop holders too" checked=${n.stop} onChange=${m=>o({...n,stop:m})} help="Otherwise running work continues to its end." />
        ${n.stop&&r`<${We} value=${n} set=${o} />`}
        <${ie} label="Leave paused ones as they are" checked=${n.keep} onChange=${m=>o({...n,keep:m})} help="Otherwise this pause replaces theirs, also when it ends." />
      </div>
    </fieldset>`}
    <p class="row end"><${U} role="ROLE_OPERATOR" type="submit" kind="primary" why=${c}>${e?"Preview …":"Preview the pause …"}<//></p>
    ${s&&r`<${me}
      title=${e?"Resume":"Pause"}
      verb=${e?"Resume":"Pause"}
      role="ROLE_OPERATOR"
      preview=${async m=>C("/v1/preview",{[h]:d()},m)}
      run=${async(m,p)=>C(`/v1/${h}`,{...d(),expected:p.digest,...m})}
      done=${m=>`${O(m.names?.length??0,"semaphore","semaphores")} ${h}d.`}
      onDone=${(m,p)=>l(`${O(m.names?.length??0,"semaphore","semaphores")} ${h}d`,"ROLE_OPERATOR")(m,p)}
      onClose=${()=>a(!1)}
    />`}
  </form>`}function Hs(){let[e]=q(),[t,n]=$({group:e.get("group")??"",acquirer:e.get("acquirer")??"",lasts:"",until:"",drain:""}),[o,s]=$(!1),[a,i,l]=On(),u=()=>({...t.group.trim()&&{group_pattern:t.group.trim()},...t.acquirer.trim()&&{acquirer_pattern:t.acquirer.trim()},...Ue(t),...Ce(t.drain)}),d=!t.group.trim()&&!t.acquirer.trim()?"Say whom to shut out.":He(()=>u());return a?r`<${Dn} of=${a} onAgain=${l} />`:r`<form class="stack" onSubmit=${c=>(c.preventDefault(),d||s(!0))}>
    <p>A cordon shuts a group or a host out of every semaphore, for example while it is patched.</p>
    <fieldset class="panel">
      <legend>Whom, and for how long</legend>
      <div class="form">
        <${F} label="Group pattern" value=${t.group} onInput=${c=>n({...t,group:c})} list="cordon-groups" help="A caller is caught when either pattern matches." />
        <${F} label="Acquirer pattern" value=${t.acquirer} onInput=${c=>n({...t,acquirer:c})} placeholder="host-3" />
        <${Ze} value=${t} set=${n} without="Empty: until it is ended." />
        <${We} value=${t} set=${n} />
        <${ir} id="cordon-groups" />
      </div>
    </fieldset>
    <p class="row end"><${U} role="ROLE_OPERATOR" type="submit" kind="primary" why=${d}>Preview the cordon …<//></p>
    ${o&&r`<${me}
      title="Cordon"
      verb="Cordon"
      role="ROLE_OPERATOR"
      preview=${async c=>C("/v1/preview",{cordon:u()},c)}
      run=${async c=>C("/v1/cordon",{...u(),...c})}
      done=${c=>`Cordon ${c.cordon?.id} is in force.`}
      onDone=${(c,h)=>i(`Cordon ${c.cordon?.id} is in force`,"ROLE_OPERATOR")(c,h)}
      onClose=${()=>s(!1)}
    />`}
  </form>`}function lr(){ne("Move and pause");let[e]=q(),t=e.get("do")??"move";return r`<${Z}>Move and pause<//>
    <${qe} />
    <${rt} of=${js} query="do" label="What to do" />
    ${t==="pause"?r`<${rr} key="pause" />`:t==="resume"?r`<${rr} key="resume" resume />`:t==="cordon"?r`<${Hs} />`:t==="move"?r`<${Us} />`:r`<${A} title="There is no such form." />`}`}var cr=e=>e.all?"every semaphore":e.labels?`semaphores with ${e.labels}`:Le(e.names??[]),ur=e=>e.names?.length===1?e.names[0]:"";function pr({selector:e,onClose:t,onDone:n}){let[o,s]=$({lasts:"",until:"",stop:!1,drain:""}),a=()=>({selector:e,...Ue(o),...o.stop?{stop:!0,...Ce(o.drain)}:{}});return r`<${me}
    title=${`Pause ${cr(e)}`}
    verb="Pause"
    role="ROLE_OPERATOR"
    semaphore=${ur(e)}
    deps=${o}
    preview=${async i=>C("/v1/preview",{pause:a()},i)}
    run=${async(i,l)=>C("/v1/pause",{...a(),expected:l.digest,...i})}
    done=${i=>`${O(i.names?.length??0,"semaphore","semaphores")} paused.`}
    onClose=${t}
    onDone=${n}
  >
    <p>Nobody gets a permit until the pause ends. The queue keeps its places.</p>
    <div class="form">
      <${Ze} value=${o} set=${s} without="Empty: until it is resumed." />
      <${ie} label="Stop holders too" checked=${o.stop} onChange=${i=>s({...o,stop:i})} help="Otherwise running work continues to its end." />
      ${o.stop&&r`<${We} value=${o} set=${s} />`}
    </div>
  <//>`}function dr({selector:e,onClose:t,onDone:n}){return r`<${me}
    title=${`Resume ${cr(e)}`}
    verb="Resume"
    role="ROLE_OPERATOR"
    semaphore=${ur(e)}
    preview=${async o=>C("/v1/preview",{resume:{selector:e}},o)}
    run=${async(o,s)=>C("/v1/resume",{selector:e,expected:s.digest,...o})}
    done=${o=>o.names?.length?`${O(o.names.length,"semaphore","semaphores")} resumed.`:"Nothing was paused."}
    onClose=${t}
    onDone=${n}
  />`}function mr({name:e}){let[t,n]=q(),o={group:t.get("group")??"",acquirer:t.get("acquirer")??"",weight:t.get("weight")??"",worker:t.get("worker")??""},[s,a]=$(o),l=E(m=>T("/v1/known",{page_size:1e3},m),["known"]).data?.callers??[],u={identity:{group:o.group,acquirer:o.acquirer},...o.weight&&{weight:Number(o.weight)},...o.worker&&{worker:!0}},d=E(o.acquirer?m=>C(ae`/v1/semaphores/${e}:explain`,u,m):null,["explain",e,o],{keep:!0,every:5e3}),c=m=>{m.preventDefault(),n(s),d.refresh()},h=m=>p=>a({...s,[m]:p});return r`<section class="panel">
    <h2>Would this caller get a permit?</h2>
    <form class="form" onSubmit=${c}>
      <${F} label="Group" value=${s.group} onInput=${h("group")} list="known-groups" placeholder="default" help="Where the caller runs: a zone, a site." />
      <${F} label="Acquirer" value=${s.acquirer} onInput=${h("acquirer")} list="known-acquirers" required help="Who asks, normally a host." />
      <${F} label="Weight" type="number" min="1" value=${s.weight} onInput=${h("weight")} placeholder="1" />
      <${ie} label="It is a worker" checked=${s.worker==="1"} onChange=${m=>h("worker")(m?"1":"")} help="It asks for a task." />
      <datalist id="known-groups">${[...new Set(l.map(m=>m.group))].map(m=>r`<option value=${m} />`)}</datalist>
      <datalist id="known-acquirers">${[...new Set(l.map(m=>m.acquirer))].map(m=>r`<option value=${m} />`)}</datalist>
      <p class="row full"><button class="primary">Explain</button></p>
    </form>
    ${d.error&&!d.error.offline&&r`<${W} error=${d.error} />`}
    ${o.acquirer&&!d.data&&!d.error&&r`<${ye} what="Asking" />`}
    ${d.data&&r`<${Ws} of=${d.data} />`}
  </section>`}function Ws({of:e}){let t=!e.reason||e.reason==="REASON_UNSPECIFIED";return r`<div class="stack" role="status">
    <p class="lead tone-${t?"run":"deny"}"><strong>${t?"It would get a permit.":`Denied: ${I(e.reason,"REASON_")}.`}</strong> ${e.summary}</p>
    ${e.recovering&&r`<p class="note">Nothing is granted for another ${Math.ceil(M(e.recovering)/1e3)} s: a recovery of the cluster is being waited out.</p>`}
    <ol class="steps">
      ${(e.steps??[]).map(n=>r`<li key=${n.number}>
        <span class="step-mark tone-${n.passed?"run":"deny"}"><span aria-hidden="true">${n.passed?"✓":"✗"}</span><span class="sr-only">${n.passed?"passed":"failed"}</span></span>
        <span class="step-name">${n.number} ${n.name}</span><span>${n.text}</span>
      </li>`)}
    </ol>
    ${e.holders?.length>0&&r`<p>Taken by ${e.holders.slice(0,5).map((n,o)=>r`${o?", ":""}${j(n.identity)} for <${le} at=${n.granted_at} />`)}${(e.holder_count??0)>5&&` and ${b(e.holder_count-5)} more`}.</p>`}
    ${e.waiter_count>0&&r`<p>${O(e.waiter_count,"caller waits","callers wait")} in the queue.</p>`}
    ${e.why_tasks_wait&&r`<p>${e.why_tasks_wait}</p>`}
  </div>`}var Bs={claimed:"accent",done:"run",spent:"stop",failed:"deny","cut short":"stop",open:"wait",forgotten:"idle"};async function Ks(e,t){let n="",o,s=[];do o=await T("/v1/firings",{semaphore:e,page_size:1e3,page_token:n},t),s.push(...o.firings??[]),n=o.next_page_token??"";while(n&&s.length<2e4);return{...o,firings:s.reverse()}}function fr({name:e,events:t}){let n=E(u=>Ks(e,u),["firings",e,t],{keep:!0}),[o,s]=$(null),[a,i]=$(100),l=o&&{semaphore:e,firings:[o.firing],...pe()};return r`<section class="panel">
    <h2>Firings</h2>
    <${B} of=${n} what="Reading the firings">
      ${u=>r`
        <p class="faint">${b(u.count)} remembered, at most ${b(u.limit)}.${u.forgotten_up_to&&` Those due until ${P(u.forgotten_up_to)} that are not listed count as forgotten.`}</p>
        <${z}
          caption="Firings"
          rows=${u.firings.slice(0,a)}
          rowKey=${d=>Fe(d.firing)}
          empty=${r`<${A} title="No firing is remembered.">A caller that names its firing, as gkctl run --firing does, is remembered here.<//>`}
          columns=${[["Firing",d=>Fe(d.firing),"name"],["State",d=>r`<span class="tag tone-${Bs[I(d.state,"FIRING_STATE_")]??"idle"}">${I(d.state,"FIRING_STATE_")}</span>`],["Who",d=>d.winner?j(d.winner):"–","name"],["Claimed at",d=>P(d.claimed_at)||"–","num"],["Attempts",d=>b(d.attempts),"num"],["Failure",d=>d.failure||"–"],["",d=>r`<${U} role="ROLE_OPERATOR" semaphore=${e} onClick=${()=>s(d)}>Forget …<//>`,"end"]]}
        />
        ${u.firings.length>a&&r`<button type="button" onClick=${()=>i(a*5)}>Show more</button>`}`}
    <//>
    ${o&&r`<${me}
      title=${`Forget ${Fe(o.firing)}`}
      verb="Forget it"
      kind="danger"
      role="ROLE_OPERATOR"
      semaphore=${e}
      preview=${u=>C("/v1/firings:forget",{...l,dry_run:!0},u)}
      run=${(u,d)=>C("/v1/firings:forget",{...l,plan:d.plan,...u})}
      done=${()=>`${Fe(o.firing)} is forgotten.`}
      onDone=${n.refresh}
      onClose=${()=>s(null)}
    ><p>A forgotten firing can run again, even if its job has run.</p><//>`}
  </section>`}function hr({name:e,events:t,onChange:n}){let[o,s]=q(),a=o.get("permits")==="1",[i,l]=$(50),u=E(d=>T("/v1/history",{names:[e],permits:a,page_size:i},d),["history",e,a,i,t],{keep:!0});return r`<section class="panel">
    <div class="title"><h2>History</h2>
      <${ie} label="Also how permits ended" checked=${a} onChange=${d=>s({permits:d?"1":""})} />
    </div>
    <${B} of=${u} what="Reading the journal">
      ${d=>r`
        ${d.entries?.length?r`<${gt} entries=${d.entries} semaphore=${e} onChange=${n} />`:r`<${A} title="The journal has nothing of it." />`}
        ${d.next_page_token&&i<1e3&&r`<p class="row"><button type="button" onClick=${()=>l(Math.min(1e3,i*4))}>Show more</button></p>`}`}
    <//>
  </section>`}var An=[["1h",36e5],["6h",6*36e5],["24h",24*36e5],["7d",168*36e5]],In=4,$r=12,zs={released:"run",expired:"stop",abandoned:"idle",cancelled:"idle",cleared:"stop","freed unsafely":"deny",superseded:"idle"};function gr({name:e,permits:t,events:n}){let[o,s]=q(),a=An.find(([u])=>u===o.get("span"))??An[0];De();let i=Date.now()-a[1],l=E(u=>T("/v1/history",{names:[e],permits:!0,since:new Date(Date.now()-a[1]).toISOString(),page_size:1e3},u),["timeline",e,a[0],n],{keep:!0});return r`<section class="panel">
    <div class="title"><h2>Who held it when</h2>
      <div class="row" role="group" aria-label="Span of time">
        ${An.map(([u])=>r`<button type="button" key=${u} aria-pressed=${u===a[0]} onClick=${()=>s({span:u==="1h"?"":u})}>${u}</button>`)}
      </div>
    </div>
    <${B} of=${l} what="Reading the journal">
      ${u=>r`<${Vs} entries=${u.entries??[]} permits=${t} from=${i} to=${Date.now()} more=${u.next_page_token} />`}
    <//>
  </section>`}function Vs({entries:e,permits:t,from:n,to:o,more:s}){let a=[...t.map(c=>({who:j(c.identity),from:Date.parse(c.granted_at),to:o,how:"holds it now",tone:c.stop?"stop":"accent",token:c.token})),...e.filter(c=>c.permit&&c.kind!=="EVENT_KIND_GRANTED"&&c.permit.granted_at).map(c=>{let h=I(c.permit.ended,"PERMIT_END_")||I(c.kind,"EVENT_KIND_");return{who:j(c.permit.identity),from:Date.parse(c.permit.granted_at),to:Date.parse(c.permit.ended_at??c.at),how:h,tone:zs[h]??"idle",token:c.permit.token}})],i=new Set,l=new Map;for(let c of a)i.has(c.token)||c.to<n||(i.add(c.token),l.set(c.who,[...l.get(c.who)??[],c]));if(l.size===0)return r`<${A} title="Nobody held it in this time." />`;let u=c=>1e3*(Math.max(c,n)-n)/(o-n),d=e.filter(c=>!c.permit&&Date.parse(c.at)>=n);return r`<div class="timeline">
    ${[...l].slice(0,$r).map(([c,h])=>{let m=h[0],p=`${c}: ${O(h.length,"permit","permits")}, the last from ${P(m.from)}, ${m.how}`;return r`<div class="lane" key=${c}>
        <span class="lane-name">${c}</span>
        <svg viewBox="0 0 1000 18" preserveAspectRatio="none" role="img" aria-label=${p}>
          <rect class="track" width="1000" height="18" />
          ${h.map(f=>r`<rect key=${f.token} class="fill-${f.tone}" x=${u(f.from)} y="2" height="14" width=${Math.max(1.5,u(f.to)-u(f.from))}>
            <title>${`${f.who}: ${P(f.from)}, ${f.how} after ${X(f.to-f.from)}, token ${f.token}`}</title>
          </rect>`)}
          ${d.map(f=>r`<line key=${f.revision} class="mark" x1=${u(Date.parse(f.at))} x2=${u(Date.parse(f.at))} y1="0" y2="18"><title>${`${I(f.kind,"EVENT_KIND_")} by ${f.author??"–"} at ${P(f.at)}`}</title></line>`)}
        </svg>
      </div>`})}
    <div class="lane axis" aria-hidden="true">
      <span class="lane-name"></span>
      <span class="ticks num">${Array.from({length:In+1},(c,h)=>r`<span key=${h}>${h===In?"now":ot(n+(o-n)*h/In).slice(0,-3)}</span>`)}</span>
    </div>
    ${(l.size>$r||s)&&r`<p class="faint">Not everything fits here. <a href="?tab=history&permits=1">The history has all of it.</a></p>`}
  </div>`}function Js({permit:e,onClose:t,onDone:n}){let[o,s]=$({reason:"",drain:"",unsafe:!1}),[a,i]=$(null),[l,u]=$(!1);return r`<${ce} title="Revoke a permit" onClose=${t}>
    <form onSubmit=${async c=>{if(c.preventDefault(),!l){u(!0);try{let h={reason:o.reason,...pe()};o.drain.trim()&&(h.drain=xe(o.drain)),o.unsafe&&(h.unsafe_now=!0),await C(ae`/v1/permits/${e.token}:revoke`,h),he(`The permit of ${j(e.identity)} is revoked.`),n(),t()}catch(h){i(h),u(!1)}}}}>
      <p>${j(e.identity)} must stop. Its refreshes are refused from now on, and its slot is free when it releases, or at its deadline.</p>
      <${F} label="Reason" value=${o.reason} onInput=${c=>s({...o,reason:c})} maxlength="1024" />
      <${F} label="Drain" placeholder="2m" value=${o.drain} onInput=${c=>s({...o,drain:c})} error=${He(()=>xe(o.drain))} help="How long it may continue. Empty: not at all." />
      <${ie} label="Free the slot at once" checked=${o.unsafe} onChange=${c=>s({...o,unsafe:c})}
        help="Unsafe: the holder may still run, and then two run at the same time. Only a fencing token protects what they write." />
      <${W} error=${a} />
      <p class="row end">
        <button type="button" onClick=${t}>Cancel</button>
        <button class=${o.unsafe?"danger":"primary"}>${l?"Working …":o.unsafe?"Revoke and free the slot":"Revoke"}</button>
      </p>
    </form>
  <//>`}function Gs({permit:e,onClose:t,onDone:n}){let[o,s]=$(""),[a,i]=$(null);return r`<${ce} title="Clear a slot" onClose=${t}>
    <form onSubmit=${u=>{u.preventDefault(),C(ae`/v1/permits/${e.token}:clear`,{reason:o,...pe()}).then(()=>{he("The slot is free."),n(),t()},i)}}>
      <p>The permit of ${j(e.identity)} expired, and its slot is held. Clear it when you know that its job does not run any more.</p>
      <${F} label="Reason" value=${o} onInput=${s} maxlength="1024" />
      <${W} error=${a} />
      <p class="row end"><button type="button" onClick=${t}>Cancel</button><button class="primary">Clear the slot</button></p>
    </form>
  <//>`}var Qs=e=>Object.entries(e??{}).map(([t,n])=>`${t}=${n}`).join(", ");function Ys({permits:e,onChange:t}){let[n,o]=$(null),s=()=>o(null);return r`<section class="panel">
    <h2>Holders</h2>
    <${z}
      caption="Holders"
      rows=${e}
      rowKey=${a=>a.token}
      empty=${r`<${A} title="Nobody holds a permit." />`}
      columns=${[["Holder",a=>r`${j(a.identity)}${a.identity?.holder_id&&r`<div class="sub">${a.identity.holder_id}</div>`}`,"name"],["State",a=>r`<span class="tone-${Do(a)}">${Ro(a)}</span>`],["Since",a=>r`<${le} at=${a.granted_at} />`,"num"],["Time left",a=>r`<${qt} at=${a.deadline} of=${M(a.duration)} />`,"num"],["Weight",a=>b(a.weight),"num"],["Token",a=>a.token,"num"],["For",a=>[Fe(a.firing),Qs(a.metadata)].filter(Boolean).join("; ")||"–"],["",a=>a.state==="PERMIT_STATE_HELD"?r`<${U} role="ROLE_OPERATOR" semaphore=${a.semaphore} onClick=${()=>o({clear:a})}>Clear …<//>`:a.state==="PERMIT_STATE_COOLING"?null:r`<${U} role="ROLE_OPERATOR" semaphore=${a.semaphore} group=${a.identity?.group} acquirer=${a.identity?.acquirer} onClick=${()=>o({revoke:a})}>Revoke …<//>`,"end"]]}
    />
    ${n?.revoke&&r`<${Js} permit=${n.revoke} onClose=${s} onDone=${t} />`}
    ${n?.clear&&r`<${Gs} permit=${n.clear} onClose=${s} onDone=${t} />`}
  </section>`}function Xs({data:e}){let t=n=>new Date(e.at-M(n.waiting)).toISOString();return r`<section class="panel">
    <h2>Queue</h2>
    <${z}
      caption="Waiters"
      rows=${e.waiters}
      rowKey=${n=>`${n.request_id}/${n.place}`}
      empty=${r`<${A} title="Nobody waits." />`}
      columns=${[["Place",n=>n.place||"idle worker","num"],["Waiter",n=>j(n.identity),"name"],["Weight",n=>b(n.weight),"num"],["Waiting for",n=>r`<${le} at=${t(n)} />`,"num"]]}
      note=${e.next_page_token&&"More wait than are shown here."}
    />
    ${(e.tasks??[]).map(n=>r`<p key=${n.job}><a href=${`/jobs/${encodeURIComponent(n.job)}`}>${n.job}</a>: ${b(n.tasks)} tasks wait for a worker.</p>`)}
  </section>`}var Zs=e=>`?${new URLSearchParams({tab:"explain",group:e.identity?.group??"",acquirer:e.identity?.acquirer??""})}`;function ea({rows:e,caption:t}){return r`<${z}
    caption=${t}
    rows=${e}
    rowKey=${n=>`${n.semaphore} ${j(n.identity)}`}
    columns=${[["Caller",n=>j(n.identity),"name"],["Why",n=>r`${n.message}<div class="sub">${I(n.reason,"REASON_")}${n.let_in&&`; ${j(n.let_in)} was let in, so it may be a standby`}${n.cured&&"; would not be denied now"}</div>`],["Times",n=>b(n.count),"num"],["Last",n=>r`<span title=${P(n.last)}><${le} at=${n.last} /> ago</span>`,"num"],["",n=>r`<a href=${n.semaphore?Zs(n):void 0}>Explain</a>`,"end"]]}
  />`}function ta({name:e,events:t}){let n=E(o=>T("/v1/denied",{names:[e],cured:!0},o),["denied",e,t],{every:1e4,keep:!0});return r`<section class="panel">
    <h2>Denied</h2>
    <${B} of=${n} what="Reading who was denied">
      ${o=>r`
        ${o.callers?.length?r`<${ea} rows=${o.callers} caption="Callers that were denied" />`:r`<${A} title="Nobody is denied.">Callers show here when waiting does not help them${o.since?`; remembered since ${P(o.since)}`:""}.<//>`}
        ${o.misspelled?.length>0&&r`<h3>They may mean this semaphore</h3>
          <ul>${o.misspelled.map(s=>r`<li>${j(s.identity)} asks for <code>${s.semaphore}</code>, which does not exist.</li>`)}</ul>`}`}
    <//>
  </section>`}function _r({name:e,of:t}){return r`<div class="stack">
    <${B} of=${t.holders} what="Reading who holds it">${n=>r`<${Ys} permits=${n} onChange=${t.read} />`}<//>
    <${gr} name=${e} permits=${t.holders.data??[]} events=${t.events} />
    <div class="panels">
      <${B} of=${t.waiters} what="Reading the queue">${n=>r`<${Xs} data=${n} />`}<//>
      <${ta} name=${e} events=${t.events} />
    </div>
  </div>`}function Kt(e={}){let t={};for(let n of de){let o=e[n.name];switch(n.kind){case"labels":t[n.name]=Object.keys(o??{}).sort().map(s=>o[s]===""?s:`${s}=${o[s]}`).join(`
`);break;case"duration":t[n.name]=Ye(o);break;case"flag":t[n.name]=o?"yes":"no";break;case"choice":t[n.name]=Pe(n,e);break;default:t[n.name]=String(o??(n.kind==="number"&&n.name==="max_attempts"?0:""))}}return t}function vr(e,t={}){let n={...t},o={};for(let s of de){let a=e[s.name]??"";try{let i=na(s,a);i===void 0?delete n[s.name]:n[s.name]=i}catch(i){o[s.name]=i.message}}return{definition:n,errors:o}}function na(e,t){switch(e.kind){case"labels":{let n={};for(let o of t.split(`
`).map(s=>s.trim()).filter(Boolean)){let s=o.indexOf("="),a=(s<0?o:o.slice(0,s)).trim();if(!a)throw new Error(`“${o}” has no key. Write key=value.`);if(Object.hasOwn(n,a))throw new Error(`The key ${a} stands here twice.`);Object.defineProperty(n,a,{value:s<0?"":o.slice(s+1).trim(),enumerable:!0})}return n}case"duration":return xe(t);case"number":{if(t.trim()==="")return;if(!/^\d+$/.test(t.trim()))throw new Error(`“${t}” is not a whole number.`);return Number(t)}case"flag":return t==="yes";case"choice":return e.prefix+t.toUpperCase();case"pattern":if(t==="")throw new Error("An empty pattern would let nobody in. .* lets everybody in.");return t}return t}function br(e,t,n){let o={},s=[],a=[];for(let i of de){let[l,u,d]=[e[i.name],t[i.name],n[i.name]];o[i.name]=u===l?d:u,u!==l&&d!==l&&u!==d&&(s.push(i.name),o[i.name]=d),(u!==l||d!==l)&&a.push({field:i,base:l,mine:u,theirs:d})}return{merged:o,conflicts:s,rows:a}}function yr({of:e,base:t,onMerged:n,onCancel:o}){let{theirs:s,conflicts:a,rows:i}=e,[l,u]=$({}),d=a.filter(m=>!l[m]),c=()=>{let m={...e.merged};for(let p of i)l[p.field.name]&&(m[p.field.name]=p[l[p.field.name]]);n(m)},h=m=>{let p=m.field.name;if(!a.includes(p))return m.mine===m.theirs?r`<${Ht}>the same<//>`:m.mine!==m.base?r`<${Ht} tone="accent">yours<//>`:r`<${Ht} tone="wait">theirs<//>`;let f=(v,g)=>r`<label class="radio">
      <input type="radio" name=${`keep-${p}`} checked=${l[p]===v} onChange=${()=>u({...l,[p]:v})} /> ${g}
    </label>`;return r`<fieldset class="radios"><legend class="sr-only">Which ${m.field.label} to keep</legend>${f("mine","yours")}${f("theirs","theirs")}</fieldset>`};return r`<section class="panel conflict" aria-label="Conflict">
    <h2>Somebody else was faster</h2>
    <p role="alert">${s.updated_by||"Somebody"} saved version ${s.version} at ${P(s.updated_at)}${s.reason&&` (${s.reason})`}. You began
      with version ${t?.version??"–"}. Nothing of yours is saved yet, and nothing is lost.</p>
    <${z}
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
  </section>`}var Nn=60;function wr({name:e,group:t,acquirer:n}){let[o,s]=$({group:t,acquirer:n});S(()=>{let p=setTimeout(()=>s({group:t,acquirer:n}),250);return()=>clearTimeout(p)},[t,n]);let a=E(p=>_e("/v1/known",{},"callers",p,1e3),["known"]),i=E(o.group&&o.acquirer?async p=>{let f={name:`${e.slice(0,60)}~pattern-test`,group_pattern:o.group,acquirer_pattern:o.acquirer};return(await C("/v1/preview",{edits:{edits:[{create:f}]}},p)).effects?.[0]??{}}:null,["patterns",o],{keep:!0}),l=a.data?.items??[],u=i.data?.eligible??i.data?.total_admitted??0,d=new Set((i.data?.admitted??[]).map(p=>`${p.acquirer} in ${p.group}`)),c=i.error&&!i.error.offline?i.error.fields?.[0]?.rule??i.error.message:"",h=d.size>=u,m=[...l].sort((p,f)=>d.has(`${f.acquirer} in ${f.group}`)-d.has(`${p.acquirer} in ${p.group}`));return r`<div class="pattern-test full" aria-live="polite">
    ${c?r`<p class="error">${c}</p>`:l.length===0?r`<p class="faint">Nobody was seen asking yet, so the patterns cannot be tried on anybody.</p>`:r`<p><strong class=${u?"tone-run":"tone-deny"}>These patterns let in ${u?b(u):"none"} of ${O(l.length,"known caller","known callers")}${a.data?.more?" and more":""}.</strong></p>
            <ul class="chips">${m.slice(0,Nn).map(p=>{let f=`${p.acquirer} in ${p.group}`,v=d.has(f);return!v&&!h?null:r`<li key=${f} class=${v?"in":"out"}><span aria-hidden="true">${v?"✓":"✗"}</span><span class="sr-only">${v?"let in: ":"not let in: "}</span>${f}</li>`})}${l.length>Nn&&r`<li class="out">and ${b(l.length-Nn)} more</li>`}</ul>`}
  </div>`}var kr={group_pattern:".*",acquirer_pattern:".*",permits:1,duration:"60s"};function Er({name:e,record:t,onSaved:n}){let[o,s]=q();if(o.get("edit")==="1"||!t)return r`<${oa} name=${e} record=${t} onSaved=${n} onDone=${()=>s({edit:""})} />`;let i=t.definition;return r`<section class="panel">
    <div class="title"><h2>Rule</h2>
      <${U} role="ROLE_EDITOR" semaphore=${e} kind="primary" onClick=${()=>s({edit:"1"},{replace:!1})}>Edit<//>
    </div>
    <${Se} of=${de.map(l=>[l.label,Pe(l,i)&&(l.kind==="pattern"?r`<code>${Pe(l,i)}</code>`:Pe(l,i))])} />
    <p class="faint">Version ${t.version}, ${P(t.updated_at)}${t.updated_by&&`, by ${t.updated_by}`}${t.reason&&`: ${t.reason}`}</p>
  </section>`}var zt=["firing_on_loss","firing_retention","firing_limit","firing_max_ahead","max_attempts","misfire","misfire_window"];function oa({name:e,record:t,onSaved:n,onDone:o}){let[s,a]=$(t),[i,l]=$(()=>Kt(t?.definition??kr)),[u,d]=$({}),[c,h]=$(!1),[m,p]=$(null),[f,v]=$({}),g=fe(()=>Kt(s?.definition??kr),[s]),{definition:x,errors:y}=vr(i,s?.definition??{name:e}),N=!s||de.some(_=>i[_.name]!==g[_.name]),L=Object.keys(y).length>0,k=t&&s&&t.version!==s.version?t:null;S(()=>{if(!N||!s)return;let _=V=>V.preventDefault();return addEventListener("beforeunload",_),()=>removeEventListener("beforeunload",_)},[N]);let G=_=>V=>{l(R=>({...R,[_]:V})),v(R=>({...R,[_]:void 0}))},se=s?{replace:x,expected_version:s.version}:{create:{...x,name:e}},oe=()=>({edits:[se],...Ce(u.drain),...s?Ue(u):{}}),re=_=>p({theirs:_,...br(g,i,Kt(_.definition))}),Y=_=>{if(_.reason==="STALE_VERSION")return T(ae`/v1/definitions/${e}`).then(R=>re(R.record),R=>he(R.message,{tone:"deny"})),!0;let V=_.fields?.filter(R=>de.some(H=>R.field.endsWith(H.name)))??[];return V.length===0?!1:(v(Object.fromEntries(V.map(R=>[de.find(H=>R.field.endsWith(H.name)).name,R.rule]))),!0)},w=_=>{let V=y[_.name]??f[_.name],R=i[_.name],H={key:_.name,label:_.label,help:_.help,error:V,class:R!==g[_.name]?"changed":""};if(_.kind==="flag")return r`<${ie} ...${H} checked=${R==="yes"} onChange=${Be=>G(_.name)(Be?"yes":"no")} />`;if(_.kind==="choice")return r`<${ke} ...${H} value=${R} onChange=${G(_.name)} options=${_.values.map(Be=>[Be.toLowerCase(),Be.toLowerCase()])} />`;let et=_.kind==="labels"?3:_.name==="description"?2:void 0;return r`<${F} ...${H} value=${R} onInput=${G(_.name)} area=${et} name=${_.name} inputmode=${_.kind==="number"?"numeric":void 0} />`},D=_=>{_.preventDefault(),!L&&N&&h(!0)};return m?r`<${yr}
      of=${m}
      base=${s}
      onCancel=${()=>p(null)}
      onMerged=${_=>{a(m.theirs),l(_),p(null),h(!0)}}
    />`:r`<section class="panel">
    <div class="title"><h2>${s?"Edit the rule":"Create this semaphore"}</h2></div>
    ${k&&r`<p class="note" role="alert">${k.updated_by||"Somebody"} saved another version at ${P(k.updated_at)}, while you edit.
      <button type="button" onClick=${()=>re(k)}>Compare and merge</button></p>`}
    <form onSubmit=${D}>
      <div class="form">
        ${de.filter(_=>!zt.includes(_.name)&&_.kind!=="pattern"&&["description","labels"].includes(_.name)).map(w)}
        ${de.filter(_=>_.kind==="pattern").map(w)}
        <${wr} name=${e} group=${i.group_pattern} acquirer=${i.acquirer_pattern} />
        ${de.filter(_=>!zt.includes(_.name)&&_.kind!=="pattern"&&!["description","labels"].includes(_.name)).map(w)}
      </div>
      <details open=${zt.some(_=>i[_]!==g[_]||y[_])}>
        <summary>Firings</summary>
        <div class="form">${de.filter(_=>zt.includes(_.name)).map(w)}</div>
      </details>
      <p class="row end sticky-end">
        ${N&&r`<span class="grow faint">Nothing is saved yet.</span>`}
        ${s&&r`<button type="button" onClick=${o}>${N?"Discard":"Back"}</button>`}
        <${U} role="ROLE_EDITOR" semaphore=${e} type="submit" kind="primary" why=${L?"A field has a mistake.":N?"":"Nothing was changed."}>Review and save …<//>
      </p>
    </form>
    ${c&&r`<${me}
      title=${s?`Save ${e}`:`Create ${e}`}
      verb=${s?"Save":"Create"}
      role="ROLE_EDITOR"
      semaphore=${e}
      deps=${u}
      preview=${async _=>C("/v1/preview",{edits:oe()},_)}
      run=${async _=>C("/v1/definitions:edit",{...oe(),..._})}
      done=${_=>`${e} is ${s?"saved":"created"}, as change ${_.revision}.`}
      onError=${Y}
      onClose=${()=>h(!1)}
      onDone=${()=>{n(),o()}}
    >
      ${s&&r`<details><summary>Only for a time, or with a drain</summary>
        <div class="form"><${Ze} value=${u} set=${d} without="Then the old values come back. Empty: for good." /><${We} value=${u} set=${d} /></div>
      </details>`}
    <//>`}
  </section>`}function xr({name:e,events:t}){let n=E(s=>T("/v1/jobs",{semaphore:e,page_size:200},s),["jobs",e,t],{every:5e3,keep:!0}),o=E(s=>T("/v1/workers",{semaphore:e},s),["workers",e,t],{every:5e3,keep:!0});return r`<div class="stack">
    <section class="panel"><h2>Jobs</h2>
      <${B} of=${n} what="Reading the jobs">
        ${s=>s.jobs?.length?r`<${xn} jobs=${s.jobs} />`:r`<${A} title="It has no jobs.">Submit one with gkctl job submit.<//>`}
      <//>
    </section>
    <section class="panel"><h2>Workers</h2>
      <${B} of=${o} what="Reading the workers">${s=>r`<${Tn} data=${s} />`}<//>
    </section>
  </div>`}var ra=[["now","Now"],["rule","Rule"],["history","History"],["firings","Firings"],["tasks","Tasks"],["explain","Explain"]],sa=(e,t)=>e.map(n=>({...n,deadline:n.expires_in?t+M(n.expires_in):0}));function aa(e){let t=E(d=>T(ae`/v1/definitions/${e}`,{},d),["record",e],{every:15e3}),n=E(async d=>{let c=Date.now();return sa((await _e("/v1/holders",{names:[e]},"permits",d)).items,c)},["holders",e],{every:15e3}),o=E(async d=>({at:Date.now(),...await T("/v1/waiters",{names:[e],page_size:200},d)}),["waiters",e],{every:5e3}),[s,a]=$(null),[i,l]=$(0),u=Oe(()=>{t.refresh(),n.refresh(),o.refresh(),l(d=>d+1)},40);return Te("/v1/watch",{names:[e],permits:!0,live_every:"1s"},{open:d=>d&&u(),missed:u,message:({events:d=[]})=>d.length&&u(),live(d){let c=((d.live??d).semaphores??[]).find(p=>p.semaphore===e),h=Date.now(),m=new Map((c?.deadlines??[]).map(p=>[p.token,h+M(p.expires_in)]));n.set(p=>p?.map(f=>m.has(f.token)?{...f,deadline:m.get(f.token)}:f)),s&&(c?.waiters??0)!==s.waiters&&o.refresh(),a({waiters:c?.waiters??0})}}),{record:t,holders:n,waiters:o,live:s,events:i,read:u}}function ia({record:e,onChange:t}){let[n,o]=$(""),s=e.definition.name,a=()=>o("");return r`
    ${e.pause?r`<${U} role="ROLE_OPERATOR" semaphore=${s} onClick=${()=>o("resume")}>Resume …<//>`:r`<${U} role="ROLE_OPERATOR" semaphore=${s} onClick=${()=>o("pause")}>Pause …<//>`}
    <a class="button" href=${`/move?names=${encodeURIComponent(s)}`}>Move …</a>
    <${U} role="ROLE_EDITOR" semaphore=${s} kind="danger" onClick=${()=>o("delete")}>Delete …<//>
    ${n==="pause"&&r`<${pr} selector=${{names:[s]}} onClose=${a} onDone=${t} />`}
    ${n==="resume"&&r`<${dr} selector=${{names:[s]}} onClose=${a} onDone=${t} />`}
    ${n==="delete"&&r`<${me}
      title=${`Delete ${s}`}
      verb="Delete it"
      kind="danger"
      role="ROLE_EDITOR"
      semaphore=${s}
      preview=${i=>C("/v1/preview",{edits:{edits:[{delete:s,expected_version:e.version}]}},i)}
      run=${i=>C("/v1/definitions:edit",{edits:[{delete:s,expected_version:e.version}],...i})}
      done=${()=>`${s} is deleted.`}
      onDone=${()=>ge("/")}
      onClose=${a}
    />`}`}function la({record:e,holders:t,live:n}){let o=Number(e.used??0),s=e.definition.permits??0;return r`<dl class="figures">
    <div><dt>In use</dt><dd class="num">${b(o)}<span class="faint"> / ${b(s)}</span></dd>
      <dd><${$e} share=${s?o/s:o?1:0} label="${o} of ${s} permits in use" /></dd></div>
    <div><dt>Holders</dt><dd class="num">${b(t?.length??e.holders)}</dd></div>
    <div><dt>Queue</dt><dd class="num">${b(n?.waiters??e.waiters)}</dd></div>
  </dl>`}function Tr({name:e}){ne(e);let t=aa(e),[n]=q(),o=n.get("tab")??"now",s=t.record.data?.record,a=t.record.error?.code==="NOT_FOUND",i=a&&!s;return r`
    <${Z} aside=${s&&r`<${ia} record=${s} onChange=${t.read} />`}>${e}<//>
    <${qe} />
    ${a&&r`<p class="note">There is no definition of this name${s?" any more":""}. Its history and firings may still be known.</p>`}
    ${s&&!a&&r`<div class="standing">
      <p class="row">${$t(s).map(l=>r`<${_t} key=${l.value} value=${l.value} />`)}</p>
      ${jt(s).map(l=>r`<p class="note">${l}</p>`)}
      <${la} record=${s} holders=${t.holders.data} live=${t.live} />
    </div>`}
    ${t.record.error&&!a&&!t.record.error.offline&&r`<${W} error=${t.record.error} retry=${t.record.refresh} />`}
    <${rt} of=${ra} label="Parts of this semaphore" />
    ${!s&&!a?!t.record.error&&r`<${ye} what="Reading the semaphore" />`:o==="rule"?r`<${Er} key=${e} name=${e} record=${a?null:s} onSaved=${t.read} />`:o==="history"?r`<${hr} name=${e} events=${t.events} onChange=${t.read} />`:o==="firings"?r`<${fr} name=${e} events=${t.events} />`:o==="explain"?r`<${mr} name=${e} />`:i?r`<${A} title="Nothing to show.">Create it under <a href="?tab=rule">Rule</a>, or look at its <a href="?tab=history">history</a>.<//>`:o==="tasks"?r`<${xr} name=${e} events=${t.events} />`:r`<${_r} name=${e} of=${t} />`}`}var ca=[[/^\/$/,nr],[/^\/s\/(.+)$/,Tr],[/^\/move$/,lr],[/^\/activity$/,Uo],[/^\/jobs$/,Vo],[/^\/jobs\/(.+)$/,Go],[/^\/cluster$/,Ko],[/^\/access$/,qo]];function ua(){return ne("No such page"),r`<${Z}>No such page<//><${A} title="There is nothing at this address."><a href="/">Go to the overview</a><//>`}function pa(){let e=J(Ge).split("?")[0],t=J(Ne);if(S(()=>{e!=="/login"&&!Ee.get()&&ln().catch(()=>{})},[e==="/login",t]),e==="/login")return r`<${vn} bare><${Qo} /><//>`;let[n,o]=uo(e,ca)??[ua,[]];return r`<${vn}><${n} key=${e} name=${o[0]} /><//>`}Vn(r`<${pa} />`,document.getElementById("app"));
//# sourceMappingURL=app.js.map
