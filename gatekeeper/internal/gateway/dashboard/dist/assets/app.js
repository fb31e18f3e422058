var B,Bn,Nr,Pe,Xt,St,Kn,xt,zn,en,Zt,Mr,pt=Symbol.for("pv"),Ct={},Dt=[],Lr=/^m(i|n|o|s|text|space)$/,tn=Array.isArray,nn=Dt.slice,Ye=Object.assign;function Qe(e){e&&e.parentNode&&e.remove()}function Vn(e,t,n){var o,s,a,i={},l=arguments.length;for(a in t)a=="key"?o=t[a]:a=="ref"&&typeof e!="function"?s=t[a]:i[a]=t[a];return l>2&&(i.children=l>3?nn.call(arguments,2):n),ut(e,i,o,s,null)}function ut(e,t,n,o,s){var a={type:e,props:t,key:n,ref:o,__k:null,__:null,__b:0,__e:null,__c:null,constructor:pt,__v:s||++Bn,__i:-1,__u:0};return!s&&B.vnode&&B.vnode(a),a}function Rt(e){return e.children}function rt(e,t){this.props=e,this.context=t,this.__g=0}function Fe(e,t){if(t==null)return e.__&&Fe(e.__,e.__i+1);for(var n;t<e.__k.length;t++)if((n=e.__k[t])&&n.__e)return n.__e;return typeof e.type!="function"||e.props.__P?null:Fe(e)}function Pr(e){var t,n=e.__v,o=n.__e,s=[],a=[],i=e.__P;i&&((t=Ye({constructor:pt},n)).__v=n.__v+1,B.vnode&&B.vnode(t),on(i,t,n,e.__n,i.namespaceURI,32&n.__u?[o]:null,s,o||Fe(n),32&n.__u,a),t.__v=n.__v,t.__.__k[t.__i]=t,Zn(s,t,a),n.__=n.__e=null,t.__e!=o&&Jn(t))}function Jn(e){if((e=e.__)&&e.__c&&!e.props.__P)return e.__e=null,e.__k.some(function(t){return t&&(e.__e=t.__e)}),Jn(e)}function Hn(e){(8&e.__g||(e.__g|=8,Pe.push(e),St++))&&Xt==B.debounceRendering||((Xt=B.debounceRendering)||queueMicrotask)(Gn)}function Gn(){try{for(var e,t=1;Pe.length;)Pe.length>t&&Pe.sort(Kn),e=Pe.shift(),t=Pe.length,8&e.__g&&Pr(e)}finally{(St=Pe.length)&&(Xt||queueMicrotask)(Gn)}}function Qn(e,t,n,o,s,a,i,l,u,d,c){var h,m,p,f,v,$,w=o.__k||Dt,y=t.length;for(u=Fr(n,t,w,u,y),h=0;h<y;h++)(p=n.__k[h])!=null&&(m=~p.__i&&w[p.__i]||Ct,p.__i=h,$=on(e,p,m,s,a,i,l,u,d,c),f=p.__e,(m.ref!=p.ref||8&m.__u)&&(m.ref&&rn(m.ref,null,p,m),p.ref&&c.push(p.ref,p.__c||f,p)),v=v||f,4&p.__u?(u=Yn(p,u,e,!m.__v),m.__e&&(m.__e=null)):typeof p.type=="function"&&$!==void 0?u=$:f&&(u=f.nextSibling),p.__u&=-21);return n.__e=v,u}function Fr(e,t,n,o,s){var a,i,l,u,d,c,h,m,p,f=n.length,v=f,$=0,w=0,y=e.__k=Array(s);for(a=0;a<s;a++)(i=t[a])!=null&&typeof i!="boolean"&&typeof i!="function"?(typeof i!="object"||i.constructor===String?i=y[a]=ut(null,i):tn(i)?i=y[a]=ut(Rt,{children:i}):i.constructor===pt&&i.__b?i=y[a]=ut(i.type,i.props,i.key,i.ref,i.__v):y[a]=i,u=a+$,i.__=e,i.__b=e.__b+1,l=null,~(d=i.__i=jr(i,n,u,v))&&(v--,(l=n[d])&&(l.__u|=2)),l&&l.__v?(i.__u|=16,d==u-1?$--:d==u+1?$++:d!=u&&(d>u?$--:$++,w=1)):(~d||(s>f?$--:s<f&&$++),typeof i.type!="function"&&(i.__u|=4))):y[a]=null;if(w){for(c=[],h=[],a=0;a<s;a++)if((i=y[a])&&16&i.__u){for($=0,m=c.length;$<m;)c[p=$+m>>1]<i.__i?$=p+1:m=p;c[$]=i.__i,h[a]=$+1}for($=c.length;a--;)h[a]&&(h[a]==$?$--:y[a].__u|=4)}if(v)for(a=0;a<f;a++)!(l=n[a])||2&l.__u||(l.__e==o&&(o=Fe(l)),sn(l,l));return o}function Yn(e,t,n,o){var s,a,i,l;if(typeof e.type=="function"){if(e.props.__P)return t;if(s=e.__k)for(a=0;a<s.length;a++)s[a]&&(s[a].__=e,t=Yn(s[a],t,n,!1));return t}for(t&&!t.parentNode&&(t=Fe(e))&&!t.parentNode&&(t=null),i=e.__e,l=t;l&&l.nodeType==8;)l=l.nextSibling;for(i!=l&&(!o&&n.moveBefore&&i.parentNode?n.moveBefore(i,t):n.insertBefore(i,t||null)),t=i;(t=t&&t.nextSibling)&&t.nodeType==8&&!t.data.startsWith("$s"););return t}function jr(e,t,n,o){var s,a=e.key,i=e.type,l=t[n],u=l&&!(2&l.__u);if(l===null&&a==null||u&&a==l.key&&i==l.type)return n;if(o>(u?1:0)){for(s=n-1;s>=0;s--)if((l=t[s])&&!(2&l.__u)&&a==l.key&&i==l.type)return s;for(s=n+1;s<t.length;s++)if((l=t[s])&&!(2&l.__u)&&a==l.key&&i==l.type)return s}return-1}function Wn(e,t,n){n==null&&(n=""),t[0]=="-"?e.setProperty(t,n):e[t]=n}function Et(e,t,n,o,s){var a,i;if(t=="style")if(typeof n=="string")e.style.cssText=n;else{if(typeof o=="string"&&(e.style.cssText=o=""),o)for(t in o)n&&t in n||Wn(e.style,t);if(n)for(t in n)o&&n[t]==o[t]||Wn(e.style,t,n[t])}else if(t[0]=="o"&&t[1]=="n")typeof n!="function"&&(n=null),typeof o!="function"&&(o=null),(e.__e||(e.__e={}))[t]=n,n&&o||(i=Zt[t]||(Zt[t]=qr(t)),(e.__a||(e.__a={}))[t]=en,a=t!=(t=t.replace(zn,"$1")),(t=t.slice(2))[0]<"a"&&(t=t.toLowerCase()),n?e.addEventListener(t,i,a):e.removeEventListener(t,i,a));else{if(s=="http://www.w3.org/2000/svg")t=t.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if(t!="width"&&t!="height"&&t!="href"&&t!="list"&&t!="form"&&t!="tabIndex"&&t!="download"&&t!="rowSpan"&&t!="colSpan"&&t!="role"&&t!="popover"&&t in e)try{return void(e[t]=n??"")}catch{}if(typeof n=="function")return;n==null||n===!1&&t[4]!="-"?e.removeAttribute(t):e.setAttribute(t,t=="popover"&&n==1?"":n)}}function qr(e){return function(t){var n=this.__e;if(n){if(n=n[e],t[xt]==null)t[xt]=en++;else if(t[xt]<this.__a[e])return;return n(B.event?B.event(t):t)}}}function on(e,t,n,o,s,a,i,l,u,d){var c,h,m,p,f,v,$,w,y,O,I,k,Q,se,oe,le,G,V,re=t.type;if(t.constructor!==pt)return null;128&n.__u&&(u=32&n.__u,c=n.__c.__z)&&(t.__u|=u,h=a=[],c.nodeType==8?l=Tt(c,a):a.push(c),l=a[0]||l),(c=B.__b)&&c(t);e:if(typeof re=="function"){m=i.length;try{if(w=t.props,y=(c=re.prototype)&&c.render,O=(c=re.contextType)&&o[c.__c],I=c?O?O.props.value:c.__:o,(p=n.__c)?(t.__c=p,2&p.__g&&(p.__g|=1)):(y?t.__c=p=new re(w,I):(t.__c=p=new rt(w,I),p.constructor=re,p.render=Hr),O&&O.sub(p),p.state||(p.state={}),p.__n=o,p.__g|=8,p.__h=[],p.__k=[]),y&&(p.__s||(p.__s=p.state),re.getDerivedStateFromProps&&(p.__s==p.state&&(p.__s=Ye({},p.__s)),Ye(p.__s,re.getDerivedStateFromProps(w,p.__s)))),f=p.props,v=p.state,p.__v=t,n.__c){if(w!==f&&y&&!re.getDerivedStateFromProps&&p.componentWillReceiveProps&&p.componentWillReceiveProps(w,I),t.__v==n.__v&&!(8&p.__g)||!(4&p.__g)&&p.shouldComponentUpdate&&p.shouldComponentUpdate(w,p.__s,I)===!1){t.__v!=n.__v&&(p.props=w,p.state=p.__s,p.__g&=-9),t.__e=n.__e,t.__k=n.__k,t.__k.some(function(_){_&&(_.__=t)}),Dt.push.apply(p.__h,p.__k),p.__k=[],p.__h.length&&i.push(p),l=Fe(n);break e}p.componentWillUpdate&&p.componentWillUpdate(w,p.__s,I),y&&p.componentDidUpdate&&p.__h.push(function(){p.componentDidUpdate(f,v,$)})}else y&&!re.getDerivedStateFromProps&&p.componentWillMount&&p.componentWillMount(),y&&p.componentDidMount&&p.__h.push(p.componentDidMount);p.context=I,p.props=w,p.__P=e,p.__g&=-5,k=B.__r,Q=y?25:0;do p.__g&=-9,k&&k(t),c=p.render(p.props,p.state=p.__s,p.context);while(8&p.__g&&++Q<25);y&&(Dt.push.apply(p.__h,p.__k),p.__k=[]),p.state=p.__s,p.getChildContext&&(o=Ye({},o,p.getChildContext())),y&&n.__c&&p.getSnapshotBeforeUpdate&&($=p.getSnapshotBeforeUpdate(f,v)),se=c&&c.type===Rt&&c.key==null?c.props.children:c,w.__P&&(c=l,s=(e=w.__P).namespaceURI,u=a=null,n.props&&n.props.__P!=e&&(n.__k.some(function(_){_&&sn(_,_)}),n.__k=null),l=n.__k?Fe(n,0):null),l=Qn(e,tn(se)?se:[se],t,n,o,s,a,i,l,u,d),w.__P&&(t.__e=null,l=c),t.__u&=-161,h&&h.some(Qe),p.__h.length&&i.push(p),1&p.__g&&(p.__g&=-4)}catch(_){if(i.length=m,t.__v=null,u||a)if(_&&_.then){if(t.__u|=128|u,a){for(~(G=a.indexOf(l||void 0))||(G=a.length);(V=a[G-1])&&V.nodeType==8;)G--;for(;G<a.length;G++)if(V=a[G])if(a[G]=null,oe){if(V==le)break}else{if(V.nodeType!=8)break;V.data.startsWith("$s")&&(le=Tt(oe=V))}}if(!oe){for(;l&&l.nodeType==8&&l.nextSibling;)l=l.nextSibling;oe=l}(c=Tt(oe=t.__c.__z||(t.__c.__z=oe)))?(t.__e=oe,l=c):t.__e=l,l=l&&l.nextSibling}else a&&a.some(Qe);else t.__e=n.__e;t.__k||(t.__k=n.__k||[]),_&&_.then||Xn(t),B.__e(_,t,n)}}else l=t.__e=Ur(n.__e,t,n,o,s,a,i,u,d,e);return(c=B.diffed)&&c(t),l}function Tt(e,t){if(e&&e.nodeType==8&&e.data.startsWith("$s"))for(var n=1;e=e.nextSibling;){if(e.nodeType==8){if(e.data.startsWith("$s"))n++;else if(e.data.startsWith("/$s")&&!--n)return e}t&&t.push(e)}}function Xn(e){e&&(e.__c&&(e.__c.__g|=4),e.__k&&e.__k.some(Xn))}function Zn(e,t,n){for(var o=0;o<n.length;)rn(n[o++],n[o++],n[o++]);B.__c&&B.__c(t,e),e.some(function(s){try{e=s.__h,s.__h=[],e.some(function(a){a.call(s)})}catch(a){B.__e(a,s.__v)}})}function Ur(e,t,n,o,s,a,i,l,u,d){var c,h,m,p,f,v,$,w,y=n.props||Ct,O=t.props,I=t.type;if(I=="svg"?s="http://www.w3.org/2000/svg":I=="math"?s="http://www.w3.org/1998/Math/MathML":s||(s="http://www.w3.org/1999/xhtml"),a){for(c=0;c<a.length;c++)if((f=a[c])&&(I?f.localName==I:f.nodeType==3)){e=f,a[c]=null;break}}if(!e){if(w=d.ownerDocument||document,!I)return w.createTextNode(O);e=w.createElementNS(s,I,O.is?O:d),l&&(B.__m&&B.__m(t,a),l=!1),a=null}if(I){if(d=I=="template"&&e.content||e,a=I=="textarea"&&O.defaultValue!=null?null:a&&nn.call(d.childNodes),!l&&a)for(y={},c=0;c<e.attributes.length;c++)y[(f=e.attributes[c]).name]=f.value;for(c in y)f=y[c],c=="dangerouslySetInnerHTML"?m=f:c=="children"||c in O||c=="value"&&"defaultValue"in O||c=="checked"&&"defaultChecked"in O||Et(e,c,null,f,s);for(c in O)f=O[c],c=="children"?p=f:c=="dangerouslySetInnerHTML"?h=f:c=="value"?v=f:c=="checked"?$=f:l&&typeof f!="function"||y[c]===f||Et(e,c,f,y[c],s);h?(l||m&&(h.__html==m.__html||h.__html==e.innerHTML)||(e.innerHTML=h.__html),t.__k=[]):(m&&(e.textContent=""),(I=="foreignObject"||s=="http://www.w3.org/1998/Math/MathML"&&Lr.test(I))&&(s="http://www.w3.org/1999/xhtml"),Qn(d,tn(p)?p:[p],t,n,o,s,a,i,a?a[0]:n.__k&&Fe(n,0),l,u),a&&a.some(Qe)),l&&I!="textarea"||(c="value",I=="progress"&&v==null?e.removeAttribute(c):v==null||v===e[c]&&(I!="progress"||v)||Et(e,c,v,y[c],s),c="checked",$!=null&&$!=e[c]&&Et(e,c,$,y[c],s))}else y===O||l&&e.data==O||(e.data=O);return e}function rn(e,t,n,o){try{typeof e=="function"?t?t.__x=e(t)||1:o&&(o=o.__c||o.__e)&&(t=o.__x)&&(o.__x=null,typeof t=="function"?t():e(null)):e.current=t}catch(s){B.__e(s,n)}}function sn(e,t,n){var o,s,a,i;if(B.unmount&&B.unmount(e),!(o=e.ref)||o.current&&o.current!=e.__e||rn(o,null,t,e),o=e.__c){if(o.componentWillUnmount)try{o.componentWillUnmount()}catch(l){B.__e(l,t)}o.__P=o.__n=null}if(o=e.__k)for(i=0;i<o.length;i++)o[i]&&sn(o[i],t,typeof e.type!="function"||n&&!e.props.__P);!n&&(o=e.__c)&&(o=o.__z)&&(s=Tt(o,a=[]))&&(o==e.__e&&a.some(Qe),Qe(s),Qe(o)),n||Qe(e.__e),e.__e=e.__c=e.__=null}function Hr(e,t,n){return this.constructor(e,n)}function eo(e,t){var n,o,s,a;B.__&&B.__(e,t),t.nodeType==9&&(t=t.documentElement),o=(n=e&&32&e.__u)?null:t.__k,t.__k=ut(Rt,{children:[e]}),s=[],a=[],on(t,t.__k,o||Ct,Ct,t.namespaceURI,o?null:t.firstChild?nn.call(t.childNodes):null,s,o?o.__e:t.firstChild,n,a),Zn(s,t.__k,a),t.__k.props.children=null}B={__e:function(e,t,n,o){for(var s,a,i;t=t.__;)if((s=t.__c)&&!(1&s.__g)){s.__g|=4;try{if((i=(a=s.constructor)&&a.getDerivedStateFromError)&&s.setState(a.getDerivedStateFromError(e)),s.componentDidCatch&&(s.componentDidCatch(e,o||{}),i=1),i&&8&s.__g)return void(s.__g|=2)}catch(l){e=l}}throw St=0,e}},Bn=0,Nr=function(e){return e!=null&&e.constructor===pt},rt.prototype.setState=function(e,t){var n=this.__s;n&&n!=this.state||(n=this.__s=Ye({},this.state)),typeof e=="function"&&(e=e(Ye({},n),this.props)),e&&(Ye(n,e),this.__v&&(t&&this.__k.push(t),Hn(this)))},rt.prototype.forceUpdate=function(e){this.__v&&(this.__g|=4,e&&this.__h.push(e),Hn(this))},rt.prototype.render=Rt,Pe=[],St=0,Kn=function(e,t){return e.__v.__b-t.__v.__b},xt=Symbol(),zn=/(PointerCapture)$|Capture$/i,en=0,Zt={},Mr=0;var Xe,ee,an,to,ln=Object.is,Ot=0,uo=[],cn=[],Z=B,no=Z.__b,oo=Z.__r,ro=Z.diffed,so=Z.__c,ao=Z.unmount,io=Z.__;function mt(e,t){Z.__h&&Z.__h(ee,e,Ot||t),Ot=0;var n=ee.__H||(ee.__H={__:[],__h:[]});return e>=n.__.length&&n.__.push({}),n.__[e]}function g(e){return Ot=1,Wr(po,e)}function Wr(e,t,n){var o=mt(Xe++,2);if(o.t=e,!o.__c&&(o.__=[n?n(t):po(void 0,t),function(a){var i=(o.__N||o.__)[0],l=o.t(i,a);ln(i,l)||(o.__N=[l,o.__[1]],o.__c.setState({}))}],o.__c=ee,!ee.__f)){ee.__f=!0;var s=ee.shouldComponentUpdate;ee.shouldComponentUpdate=function(a,i,l){var u=this.__H;if(!u)return!0;var d=!1,c=this.props!=a;if(u.__.some(function(m){m.__N&&(d=!0,ln(m.__[0],m.__N[0])||(c=!0))}),s){var h=s.call(this,a,i,l);return d?h||c:h}return!d||c}}return o.__}function T(e,t){var n=mt(Xe++,3);!Z.__s&&pn(n.__H,t)&&(n.__P=!0,n.__=e,n.u=t,ee.__H.__h.push(n))}function ft(e,t){var n=mt(Xe++,4);!Z.__s&&pn(n.__H,t)&&(n.__P=!1,n.__=e,n.u=t,ee.__h.push(n))}function J(e){return Ot=5,me(function(){return{current:e}},[])}function me(e,t){var n=mt(Xe++,7);return pn(n.__H,t)&&(n.__=e(),n.__H=t),n.__}function ht(){var e=mt(Xe++,11);if(!e.__){for(var t=ee.__v;!t.__m&&t.__;)t=t.__;var n=t.__m||(t.__m=[0,0]);e.__="P"+n[0]+"-"+n[1]++}return e.__}function Br(){var e;do{for(;e=cn.shift();)try{dt(e)}catch(n){Z.__e(n,{__:(e=e.__P)&&e.__v})}for(;e=uo.shift();){var t=e.__H;if(e.__P&&t)try{t.__h.some(dt),t.__h.some(un),t.__h=[]}catch(n){t.__h=[],Z.__e(n,e.__v)}}}while(cn.length)}Z.__b=function(e){ee=null,no&&no(e)},Z.__=function(e,t){e&&t.__k&&t.__k.__m&&(e.__m=t.__k.__m),io&&io(e,t)},Z.__r=function(e){oo&&oo(e),Xe=0;var t=(ee=e.__c).__H;t&&(an==ee?ee.__h=[]:(t.__h.some(dt),t.__h.some(un),Xe=0),t.__h=[],t.__.some(function(n){n.__N&&(n.__=n.__N),n.u=n.__N=void 0})),an=ee},Z.diffed=function(e){ro&&ro(e);var t=e.__c;t&&t.__H&&(t.__H.__h.length&&co(uo.push(t)),t.__H.__.some(function(n){n.u&&(n.__H=n.u)})),an=ee=null},Z.__c=function(e,t){t.some(function(n){try{n.__h.some(dt),n.__h=n.__h.filter(function(o){return!o.__||un(o)})}catch(o){n.__h=[function(){throw o}]}}),so&&so(e,t)},Z.unmount=function(e){ao&&ao(e);var t,n,o=e.__c;o&&o.__H&&(o.__H.__.some(function(s){try{if(s.__P&&s.__c){if(n===void 0){for(n=e.__;n&&(!n.__c||!n.__c.__P);)n=n.__;n=n&&n.__c}s.__P=n,co(cn.push(s))}else dt(s)}catch(a){t=a}}),o.__H=void 0,t&&Z.__e(t,o.__v))};var lo=typeof requestAnimationFrame=="function";function Kr(e){var t,n=function(){clearTimeout(o),lo&&cancelAnimationFrame(t),setTimeout(e)},o=setTimeout(n,35);lo&&(t=requestAnimationFrame(n))}function co(e){e!=1&&to==Z.requestAnimationFrame||((to=Z.requestAnimationFrame)||Kr)(Br)}function dt(e){var t=ee,n=e.__c;typeof n=="function"&&(e.__c=void 0,n()),ee=t}function un(e){var t=ee;e.__c=e.__(),ee=t}function pn(e,t){return!e||e.length!=t.length||t.some(function(n,o){return!ln(n,e[o])})}function po(e,t){return typeof t=="function"?t(e):t}var fo=function(e,t,n,o){var s;t[0]=0;for(var a=1;a<t.length;a++){var i=t[a++],l=t[a]?(t[0]|=i?1:2,n[t[a++]]):t[++a];i===3?o[0]=l:i===4?o[1]=Object.assign(o[1]||{},l):i===5?(o[1]=o[1]||{})[t[++a]]=l:i===6?o[1][t[++a]]+=l+"":i?(s=e.apply(l,fo(e,l,n,["",null])),o.push(s),l[0]?t[0]|=2:(t[a-2]=0,t[a]=s)):o.push(l)}return o},mo=new Map;function ho(e){var t=mo.get(this);return t||(t=new Map,mo.set(this,t)),(t=fo(this,t.get(e)||(t.set(e,t=(function(n){for(var o,s,a=1,i="",l="",u=[0],d=function(m){a===1&&(m||(i=i.replace(/^\s*\n\s*|\s*\n\s*$/g,"")))?u.push(0,m,i):a===3&&(m||i)?(u.push(3,m,i),a=2):a===2&&i==="..."&&m?u.push(4,m,0):a===2&&i&&!m?u.push(5,0,!0,i):a>=5&&((i||!m&&a===5)&&(u.push(a,0,i,s),a=6),m&&(u.push(a,m,0,s),a=6)),i=""},c=0;c<n.length;c++){c&&(a===1&&d(),d(c));for(var h=0;h<n[c].length;h++)o=n[c][h],a===1?o==="<"?(d(),u=[u],a=3):i+=o:a===4?i==="--"&&o===">"?(a=1,i=""):i=o+i[0]:l?o===l?l="":i+=o:o==='"'||o==="'"?l=o:o===">"?(d(),a=1):a&&(o==="="?(a=5,s=i,i=""):o==="/"&&(a<5||n[c][h+1]===">")?(d(),a===3&&(u=u[0]),a=u,(u=u[0]).push(2,0,a),a=0):o===" "||o==="	"||o===`
`||o==="\r"?(d(),a=2):i+=o),a===3&&i==="!--"&&(a=4,u=u[0])}return d(),u})(e)),t),arguments,[])).length>1?t:t[0]}var r=ho.bind(Vn);function fe(e){let t=new Set;return{get:()=>e,set(n){if(!Object.is(n,e)){e=n;for(let o of[...t])o(e)}},subscribe(n){return t.add(n),()=>t.delete(n)}}}function K(e){let[t,n]=g(e.get());return T(()=>(n(e.get()),e.subscribe(n)),[e]),t}function At(e,t){let n=t;try{n=localStorage.getItem(e)??t}catch{}let o=fe(n);return o.subscribe(s=>{try{localStorage.setItem(e,s)}catch{}}),o}var It=()=>location.pathname+location.search,Ze=fe(It()),$o=0;addEventListener("popstate",()=>Ze.set(It()));function he(e,{replace:t=!1}={}){e!==It()&&(t?history.replaceState(history.state,"",e):($o++,history.pushState({depth:$o},"",e)),Ze.set(It()))}function go(){history.state?.depth>0?history.back():he("/")}document.addEventListener("click",e=>{if(e.defaultPrevented||e.button!==0||e.metaKey||e.ctrlKey||e.shiftKey||e.altKey)return;let t=e.target.closest?.("a[href]");!t||t.target||t.hasAttribute("download")||t.origin!==location.origin||t.pathname.startsWith("/v1/")||(e.preventDefault(),t.hash&&t.pathname===location.pathname?document.getElementById(t.hash.slice(1))?.focus():he(t.pathname+t.search))});function F(){let e=K(Ze);return[me(()=>new URLSearchParams(e.split("?")[1]??""),[e]),(o,{replace:s=!0}={})=>{let a=new URLSearchParams(location.search);for(let[l,u]of Object.entries(o)){a.delete(l);for(let d of[u].flat())d&&a.append(l,d)}let i=a.toString();he(location.pathname+(i?`?${i}`:""),{replace:s})}]}function ne(e){T(()=>{document.title=e?`${e} · Gatekeeper`:"Gatekeeper"},[e])}function _o(e,t){for(let[n,o]of t){let s=n.exec(e);if(s)try{return[o,s.slice(1).map(decodeURIComponent)]}catch{return null}}return null}function Se(e,t,n=200){let[o,s]=g(e);return T(()=>s(e),[e]),T(()=>{if(o===e)return;let a=setTimeout(()=>t(o),n);return()=>clearTimeout(a)},[o]),[o,s]}var Ce=fe({online:!0}),je=fe(0),$t=null;function Nt(){Ce.get().online||(clearTimeout($t),$t=null,Ce.set({online:!0}),je.set(je.get()+1))}function gt(e){let t=Ce.get();Ce.set({online:!1,since:t.since??Date.now(),message:e}),$t===null&&($t=setTimeout(vo,1e3))}async function vo(){try{let e=await fetch("/v1/definitions?page_size=1",{signal:AbortSignal.timeout(1e4)});if(e.status<500)return Nt();let t=await e.json().catch(()=>null);t?.message&&Ce.set({...Ce.get(),message:t.message})}catch{}Ce.get().online||($t=setTimeout(vo,1e3))}var qe=class extends Error{constructor(t,n){super(n?.message||(t?`The server answered with status ${t}.`:"The server does not answer.")),this.name="APIError",this.status=t,this.code=n?.code??(t?"":"UNAVAILABLE"),this.reason=n?.reason??"",this.metadata=n?.metadata??{},this.fields=n?.fields??[],this.offline=t===0||t===502||t===503||t===504}};function ie(e,...t){return String.raw({raw:e},...t.map(n=>encodeURIComponent(n)))}function Mt(e={}){let t=new URLSearchParams;for(let[o,s]of Object.entries(e))for(let a of Array.isArray(s)?s:[s])a!=null&&a!==""&&a!==!1&&a!==0&&t.append(o,a);let n=t.toString();return n?`?${n}`:""}var dn=0n,bo=0,st=()=>Date.now()+bo;function Lt(){let e=crypto.getRandomValues(new Uint8Array(16));return{request_id:`dashboard-${Array.from(e,n=>n.toString(16).padStart(2,"0")).join("")}`,request_revision:dn.toString()}}function zr(e){try{let t=BigInt(e?.revision??0);t>dn&&(dn=t)}catch{}}async function et(e,t,{query:n,body:o,signal:s}={}){let a={method:e,signal:s,headers:{Accept:"application/json"}};o!==void 0&&(a.headers["Content-Type"]="application/json",a.body=JSON.stringify(o));let i,l=null;try{i=await fetch(t+Mt(n),a),l=await i.json().catch(()=>null)}catch(u){throw s?.aborted?u:(gt("The server does not answer."),new qe(0))}return Pt(i,l)}function Pt(e,t){let n=Date.parse(e.headers.get("Date")??"");if(n){let s=n-Date.now();bo=Math.abs(s)>2e3?s:0}if(e.ok)return Nt(),zr(t),t??{};let o=new qe(e.status,t);throw o.offline?gt(o.message):Nt(),e.status===401&&Vr(),o}var _t=e=>e<40?1e4:e<300?3e4:6e4,S=(e,t,n)=>et("GET",e,{query:t,signal:n}),C=(e,t,n)=>et("POST",e,{body:t,signal:n});function Vr(){if(location.pathname==="/login")return;let e=location.pathname+location.search;history.replaceState(null,"",`/login${Mt({next:e==="/"?"":e})}`),dispatchEvent(new PopStateEvent("popstate"))}async function Ee(e,t,n,o,s=5e3){let a=[],i="";do{let l=await S(e,{page_size:1e3,...t,page_token:i},o);a.push(...l[n]??[]),i=l.next_page_token??""}while(i&&a.length<s);return{items:a,more:i!==""}}var De=fe(null),jt=At("author",""),$e=()=>De.get()?.authenticated?{}:{author:jt.get()||"dashboard"};async function mn(){let e=await S("/session");De.set({authenticates:e.authenticated??!1,...e}),Ft.clear()}async function yo(e){await et("POST","/session",{body:{token:e}}),await mn()}async function wo(){await et("DELETE","/session"),De.set(null)}var Ft=new Map;function Jr(e){let t=JSON.stringify(e),n=Ft.get(t);return(!n||n.at<Date.now()-6e4)&&(n={at:Date.now(),answer:C("/v1/can-i",e)},n.answer.catch(()=>Ft.delete(t)),Ft.set(t,n)),n.answer}var Gr={ROLE_OPERATOR:"It needs the role operator there.",ROLE_EDITOR:"It needs the role editor there.",ROLE_ADMIN:"It needs the role admin.",ROLE_ACQUIRER:"It needs the role acquirer there."};function ko(e,t="",n="",o=""){let s=K(De),[a,i]=g("");return T(()=>{if(!e||!s?.authenticated)return i("");let l=!1;return Jr({role:e,semaphore:t,group:n,acquirer:o}).then(u=>l||i(u.allowed?"":`You may not: ${u.reason}. ${Gr[e]} An administrator can grant it.`),()=>l||i("")),()=>l=!0},[e,t,n,o,s]),a}var b=e=>Number(e??0).toLocaleString("en"),D=(e,t,n)=>`${b(e)} ${Number(e)===1?t:n}`,N=e=>e?Math.round(parseFloat(e)*1e3):0;function xe(e){if(!e)return"0s";if(e<0)return`-${xe(-e)}`;let t="";for(let[n,o]of[["h",36e5],["m",6e4]]){let s=Math.floor(e/o);s&&(t+=s+n),e-=s*o}return e>=1e3||e&&t?t+=`${+(e/1e3).toFixed(3)}s`:e&&(t+=`${+e.toFixed(3)}ms`),t}function Y(e){return e<0?"0s":e<1e4?xe(Math.round(e/100)*100):e<36e5?xe(Math.round(e/1e3)*1e3):e<48*36e5?xe(Math.round(e/6e4)*6e4):`${Math.floor(e/864e5)}d`}var at=e=>Y(Math.max(0,Math.round(e/1e3))*1e3),Qr={ms:1,s:1e3,m:6e4,h:36e5,d:864e5};function Oe(e){if(e=e.trim(),e==="")return;if(e==="0")return"0s";let t=0;if(e.replace(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g,(o,s,a)=>(t+=parseFloat(s)*Qr[a],""))!=="")throw new Error(`“${e}” is not a duration. Write it as 90s, 5m, 1h30m or 2d.`);return`${+(t/1e3).toFixed(3)}s`}var tt=e=>e==null?"":xe(N(e));var vt=e=>String(e).padStart(2,"0");function M(e){if(!e)return"";let t=new Date(e);return`${`${t.getFullYear()}-${vt(t.getMonth()+1)}-${vt(t.getDate())}`} ${qt(t)}`}var qt=e=>`${vt(e.getHours())}:${vt(e.getMinutes())}:${vt(e.getSeconds())}`;function it(e){if(!e)return"";let t=new Date(e);return t.toDateString()===new Date(st()).toDateString()?qt(t):M(e)}function Te(e){if(e=Number(e??0),e<1024)return`${e} B`;let t=-1;do e/=1024,t++;while(e>=1024&&t<3);return`${e<10?e.toFixed(1):Math.round(e)} ${["KiB","MiB","GiB","TiB"][t]}`}function Ue(e,t=3){let n=e.length-t;return e.slice(0,t).join(", ")+(n>0?` and ${b(n)} more`:"")}function fn(e){if(!e)return"";let t=Uint8Array.from(atob(e),n=>n.charCodeAt(0));try{return new TextDecoder("utf-8",{fatal:!0}).decode(t)}catch{return Array.from(t,n=>n.toString(16).padStart(2,"0")).join(" ")}}var Yr=4e4,Xr=5e3;function xo(e,t,n){let o=!1,s=0,a=!1,i="",l=null,u=null,d=()=>{clearTimeout(u),l?.abort(),l=null},c=()=>{o=!0,d(),document.removeEventListener("visibilitychange",h)},h=()=>{document.hidden?d():l||p()},m=f=>{if(f.id&&(i=f.id),!f.data)return;let v=JSON.parse(f.data);if(f.type==="end")c(),n.end?.();else if(f.type==="error"){let $=new qe(v.status??500,v);Eo(v.code)||(c(),n.error?.($))}else n[f.type]?.(v,f.id)};async function p(){clearTimeout(u);let f=l=new AbortController,v=null,$=()=>{clearTimeout(v),v=setTimeout(()=>f.abort(),Yr)};try{$();let w={Accept:"text/event-stream"};i&&(w["Last-Event-ID"]=i);let y=await fetch(e+Mt(t),{headers:w,signal:f.signal});if(!y.ok||!y.headers.get("Content-Type")?.startsWith("text/event-stream"))throw Pt(y,await y.json().catch(()=>null)),new qe(500,{message:"The answer is not a stream of events."});s=0,Pt(y,{}),n.open?.(a),a=!0,await Zr(y.body,O=>!o&&m(O),$)}catch(w){w instanceof qe?!w.offline&&!Eo(w.code)&&w.status!==401?(c(),n.error?.(w)):w.status===401&&c():f.signal.aborted||gt("The connection to the server broke.")}finally{clearTimeout(v)}o||l!==f||(l=null,!document.hidden&&(s++,u=setTimeout(p,Math.min(Xr,500*s)*(.75+Math.random()/2))))}return document.addEventListener("visibilitychange",h),document.hidden||p(),c}var Eo=e=>["UNAVAILABLE","ABORTED","CANCELLED","DEADLINE_EXCEEDED","RESOURCE_EXHAUSTED","UNKNOWN"].includes(e);async function Zr(e,t,n){let o=e.pipeThrough(new TextDecoderStream).getReader(),s="",a={type:"message",id:"",data:""};for(;;){let{value:i,done:l}=await o.read();if(l)return;n();let u=(s+i).split(`
`);s=u.pop();for(let d of u){if(d.endsWith("\r")&&(d=d.slice(0,-1)),d===""){t(a),a={type:"message",id:"",data:""};continue}let c=d.indexOf(":");if(c<=0)continue;let h=d.slice(c+1).replace(/^ /,"");switch(d.slice(0,c)){case"event":a.type=h;break;case"id":a.id=h;break;case"data":a.data+=h}}}}function x(e,t,{every:n=0,keep:o=!1}={}){let[s,a]=g({}),[i,l]=g(0),u=K(je),d=JSON.stringify(t),c=J(e);c.current=e,T(()=>{if(e===null)return;let p=new AbortController;return c.current(p.signal).then(f=>p.signal.aborted||a({data:f,key:d}),f=>p.signal.aborted||a(v=>({...v,error:f,failed:d}))),()=>p.abort()},[d,i,u,e===null]),T(()=>{if(!n)return;let p=setInterval(()=>document.hidden||l(f=>f+1),n);return()=>clearInterval(p)},[n]);let h=s.key===d,m=s.failed===d?s.error:void 0;return{data:h||o?s.data:void 0,error:m,loading:!h&&!m,refresh:()=>l(p=>p+1),set:p=>a(f=>({...f,data:p(f.data)}))}}function Ae(e,t,n){let o=J(n);o.current=n;let s=JSON.stringify([e,t]);T(()=>{if(!e)return;let a=i=>(...l)=>o.current[i]?.(...l);return xo(e,t,{message:a("message"),live:a("live"),missed:a("missed"),open:a("open"),error:a("error"),end:a("end")})},[s])}var hn=fe(0),To=null,So=0;function Me(){return T(()=>(So++===0&&(To=setInterval(()=>document.hidden||hn.set(hn.get()+1),1e3)),()=>{--So===0&&clearInterval(To)}),[]),K(hn)}function Le(e,t){let n=J(e);n.current=e;let o=J(null);return T(()=>()=>clearTimeout(o.current),[]),()=>{o.current===null&&(o.current=setTimeout(()=>{o.current=null,n.current()},t))}}function Ut(e){let[t,n]=g(()=>matchMedia(e).matches);return T(()=>{let o=matchMedia(e),s=()=>n(o.matches);return o.addEventListener("change",s),()=>o.removeEventListener("change",s)},[e]),t}function ge({what:e="Reading"}){return r`<p class="loading" role="status"><span class="dots" aria-hidden="true"></span>${e} …</p>`}function R({title:e,children:t}){return r`<div class="empty"><p class="empty-title">${e}</p>${t&&r`<p>${t}</p>`}</div>`}var Co={PERMISSION_DENIED:"An administrator can grant you the role.",UNAUTHENTICATED:"Log in again."};function U({error:e,retry:t}){if(!e)return null;let n=e.fields??[];return r`<div class="failure" role="alert">
    <p class="failure-text">${Do(e.message)}</p>
    ${Co[e.code]&&r`<p>${Co[e.code]}</p>`}
    ${n.length>0&&r`<ul>${n.map(o=>r`<li><code>${o.field}</code>: ${o.rule}</li>`)}</ul>`}
    ${e.offline&&r`<p>Whether a change was made is then not known. The activity page shows it. The same button again does nothing twice.</p>`}
    <p class="row">
      ${t&&r`<button type="button" onClick=${t}>Try again</button>`}
      ${(e.reason||e.code)&&r`<span class="faint">${e.reason||e.code}</span>`}
    </p>
  </div>`}var Do=(e="")=>{let t=e.charAt(0).toUpperCase()+e.slice(1);return/[.!?…]$/.test(t)?t:`${t}.`};function H({of:e,what:t,children:n}){return e.data===void 0?e.error&&!e.error.offline?r`<${U} error=${e.error} retry=${e.refresh} />`:r`<${ge} what=${t} />`:r`${e.error&&!e.error.offline&&r`<${U} error=${e.error} retry=${e.refresh} />`}${n(e.data)}`}function Ro(){let e=K(Ce);return Me(),e.online?r`<div role="status" class="sr-only"></div>`:r`<div class="offline" role="status">
    <strong>${Do(e.message)}</strong>
    <span> What is shown is as of ${qt(new Date(e.since))}. This page asks again every second, and recovers without you.</span>
  </div>`}var bt=fe([]),es=0;function ye(e,{tone:t="run",action:n}={}){bt.set([...bt.get().slice(-2),{id:++es,text:e,tone:t,action:n}])}var $n=e=>bt.set(bt.get().filter(t=>t.id!==e));function ts({id:e,text:t,tone:n,action:o}){return T(()=>{let s=setTimeout(()=>$n(e),o?3e4:12e3);return()=>clearTimeout(s)},[e]),r`<div class="notice tone-${n}">
    <span>${t}</span>
    ${o&&r`<button type="button" onClick=${()=>($n(e),o.run())}>${o.text}</button>`}
    <button type="button" class="plain" aria-label="Dismiss" onClick=${()=>$n(e)}>×</button>
  </div>`}function Oo(){let e=K(bt);return r`<div class="notices" role="status">${e.map(t=>r`<${ts} key=${t.id} ...${t} />`)}</div>`}function q({role:e,semaphore:t,group:n,acquirer:o,why:s,kind:a="",children:i,onClick:l,type:u="button",...d}){let c=ko(e,t,n,o),h=ht(),m=c||s;return r`<span class="action">
    <button
      type=${m?"button":u}
      class=${a}
      aria-disabled=${m?"true":void 0}
      aria-describedby=${m?h:void 0}
      onClick=${m?void 0:l}
      ...${d}
    >${i}</button>
    ${m&&r`<span class="why" role="tooltip" id=${h}>${m}</span>`}
  </span>`}function de({title:e,onClose:t,wide:n,children:o}){let s=J(null),a=ht();return ft(()=>{let i=document.activeElement,l=s.current;return l.showModal(),()=>{l.close(),i?.isConnected&&i.focus()}},[]),r`<dialog
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
  </dialog>`}function Ao({label:e,help:t,error:n,children:o,class:s=""}){let a=ht(),i=[t&&`${a}-help`,n&&`${a}-error`].filter(Boolean).join(" ")||void 0;return r`<div class="field ${s}">
    <label for=${a}>${e}</label>
    ${o({id:a,"aria-describedby":i,"aria-invalid":n?"true":void 0})}
    ${t&&r`<p class="help" id="${a}-help">${t}</p>`}
    ${n&&r`<p class="error" id="${a}-error" role="alert">${n}</p>`}
  </div>`}function P({label:e,help:t,error:n,value:o,onInput:s,area:a,class:i,...l}){return r`<${Ao} label=${e} help=${t} error=${n} class=${i}>
    ${u=>a?r`<textarea rows=${a} value=${o} onInput=${d=>s(d.target.value)} ...${u} ...${l}></textarea>`:r`<input value=${o} onInput=${d=>s(d.target.value)} autocomplete="off" spellcheck=${!1} ...${u} ...${l} />`}
  <//>`}function Re({label:e,help:t,value:n,options:o,onChange:s,class:a}){return r`<${Ao} label=${e} help=${t} class=${a}>
    ${i=>r`<select value=${n} onChange=${l=>s(l.target.value)} ...${i}>
      ${o.map(([l,u])=>r`<option value=${l} selected=${l===n}>${u}</option>`)}
    </select>`}
  <//>`}function ue({label:e,help:t,checked:n,onChange:o}){let s=ht();return r`<div class="check">
    <input type="checkbox" id=${s} checked=${n} aria-describedby=${t?`${s}-help`:void 0} onChange=${a=>o(a.target.checked)} />
    <label for=${s}>${e}</label>
    ${t&&r`<span class="help" id="${s}-help">${t}</span>`}
  </div>`}function lt({of:e,query:t="tab",label:n}){let[o]=F(),s=o.get(t)??e[0][0],a=i=>{let l=new URLSearchParams(o);i===e[0][0]?l.delete(t):l.set(t,i);let u=l.toString();return location.pathname+(u?`?${u}`:"")};return r`<nav class="tabs" aria-label=${n}>
    ${e.map(([i,l])=>r`<a href=${a(i)} aria-current=${i===s?"page":void 0}>${l}</a>`)}
  </nav>`}function Io(e){let t=J(e);t.current=e,T(()=>{let n=o=>{if(o.defaultPrevented||o.ctrlKey||o.metaKey||o.altKey||document.querySelector("dialog[open]"))return;let s=/^(INPUT|TEXTAREA|SELECT)$/.test(o.target.tagName);s&&o.key!=="Escape"||t.current[o.key]?.(o,s)};return addEventListener("keydown",n),()=>removeEventListener("keydown",n)},[])}function A(e,t){return!e||e===`${t}UNSPECIFIED`?"":e.slice(t.length).toLowerCase().replaceAll("_"," ")}var Ht=[{value:"DEFINITION_STATE_DISABLED",word:"disabled",tone:"deny",help:"A pattern cannot be used: nobody is let in."},{value:"DEFINITION_STATE_DENIED",word:"denied",tone:"deny",help:"Callers are denied, and nobody gets a permit, until somebody acts."},{value:"DEFINITION_STATE_HELD",word:"held for an operator",tone:"stop",help:"A slot is held until an operator clears it."},{value:"DEFINITION_STATE_MISSED",word:"missed",tone:"stop",help:"Expected work is missed: it is silent."},{value:"DEFINITION_STATE_STOPPING",word:"stopping",tone:"stop",help:"A holder must stop."},{value:"DEFINITION_STATE_PAUSED",word:"paused",tone:"pause",help:"Nobody is let in until the pause ends."},{value:"DEFINITION_STATE_WAITING",word:"waiting",tone:"wait",help:"Somebody waits in the queue."},{value:"DEFINITION_STATE_RUNNING",word:"running",tone:"run",help:"Somebody holds a permit."},{value:"DEFINITION_STATE_IDLE",word:"idle",tone:"idle",help:"Nothing takes a slot."}],ns={value:"",word:"unknown",tone:"idle",help:""},No=e=>Ht.find(t=>t.value===e)??ns,yt=e=>Ht.filter(t=>e.states?.includes(t.value));function Mo(e){let t=yt(e)[0];return e.pause&&t?.word==="paused"?e.pause.until?`paused until ${it(e.pause.until)}`:"paused":t?.word??"unknown"}function Wt(e){let t=[];e.disabled&&t.push(`Disabled: ${e.disabled}`),e.pause&&t.push(os(e.pause)),e.missed&&t.push(rs(e.missed));for(let n of(e.denied??[]).slice(0,1))t.push(`${L(n.identity)} is denied: ${n.message}`);for(let n of e.ends??[])t.push(`${n.fields.join(", ")}: as it is until ${M(n.until)}, then its value of before.`);return[...t,...e.warnings??[]]}function os(e){let t=e.until?`Paused until ${M(e.until)}`:"Paused until it is resumed";return e.reason&&(t+=`: ${e.reason}`),e.stop&&(t+=e.drain?`. Holders must stop within ${Y(N(e.drain))}`:". Holders must stop"),`${t}. By ${e.author||"somebody"}.`}function rs(e){let t=A(e.kind,"MISSED_KIND_");return e.text||`Missed: ${t}${e.reason?` (${A(e.reason,"REASON_")})`:""}`}var L=e=>`${e?.acquirer??""} in ${e?.group||"default"}`;function Lo(e){let t=A(e.state,"PERMIT_STATE_")||"live";t==="held"&&(t="held for an operator"),e.drain_left&&(t+=`, draining for ${Y(N(e.drain_left))}`);let n=A(e.stop,"STOP_CAUSE_");return n&&(t+=`, stopping: ${n}${e.stop_reason?` (${e.stop_reason})`:""}`),t}var Po=e=>e.state==="PERMIT_STATE_HELD"||e.stop?"stop":e.state==="PERMIT_STATE_COOLING"?"idle":"run";function We(e){return e?e.due?`${e.name}@${e.due.replace(/\.000Z$/,"Z")}`:e.name:""}var _e=[{name:"description",kind:"text",label:"Description",help:"Free text for people."},{name:"labels",kind:"labels",label:"Labels",help:"One key=value per line. Commands and filters select by them."},{name:"group_pattern",kind:"pattern",label:"Group pattern",help:"A regular expression (RE2) that the whole group must match."},{name:"acquirer_pattern",kind:"pattern",label:"Acquirer pattern",help:"The same for the acquirer, normally a host."},{name:"permits",kind:"number",label:"Permits",help:"How much weight may be held at once. 0 lets nobody in."},{name:"duration",kind:"duration",label:"Duration",help:"How long a permit lives without a refresh. It bounds how long a dead holder keeps its slot."},{name:"max_hold",kind:"duration",label:"Max hold",help:"A job that holds longer must stop. Empty: no limit."},{name:"min_hold",kind:"duration",label:"Min hold",help:"The slot stays taken at least this long after a grant."},{name:"loss_delay",kind:"duration",label:"Loss delay",help:"After a lost holder the slot stays taken this much longer."},{name:"on_expiry",kind:"choice",prefix:"ON_EXPIRY_",values:["FREE","HOLD"],label:"On expiry",help:"What becomes of the slot of a permit that expired. hold: until an operator clears it."},{name:"takeover",kind:"flag",label:"Takeover",help:"Callers may take over from a holder that they judge dead."},{name:"expect_every",kind:"duration",label:"Expect every",help:"How often this work is expected to ask. Empty: nothing is expected."},{name:"firing_on_loss",kind:"choice",prefix:"FIRING_ON_LOSS_",values:["SPENT","FREE"],label:"Firing on loss",help:"What becomes of a firing whose permit was lost. free: it may be claimed again."},{name:"firing_retention",kind:"duration",label:"Firing retention",help:"How long a firing is remembered after its due time."},{name:"firing_limit",kind:"number",label:"Firing limit",help:"How many firings are remembered at most."},{name:"firing_max_ahead",kind:"duration",label:"Firing max ahead",help:"How far ahead of the leader’s clock a firing may be due. 0: any."},{name:"max_attempts",kind:"number",label:"Max attempts",help:"How many holders may attempt a firing. 0: any number."},{name:"misfire",kind:"choice",prefix:"MISFIRE_",values:["SKIP","ONCE","EACH"],label:"Misfire",help:"What becomes of firings that nobody claimed when they were due."},{name:"misfire_window",kind:"duration",label:"Misfire window",help:"How long ago such a firing may have been due."}];function He(e,t){let n=t?.[e.name];switch(e.kind){case"labels":return Object.keys(n??{}).sort().map(o=>n[o]===""?o:`${o}=${n[o]}`).join(", ");case"duration":return tt(n);case"choice":return A(n,e.prefix)||e.values[0].toLowerCase();case"flag":return n?"yes":"no";case"number":return String(n??0)}return n??""}function gn(e,t){return _e.map(n=>({field:n,before:He(n,e),after:He(n,t)})).filter(n=>n.before!==n.after)}var _n=(e=[],t=e.length,n=2)=>{let o=e.slice(0,n).map(a=>`${a.acquirer} in ${a.group}`),s=t-o.length;return o.join(", ")+(s>0?` and ${b(s)} more`:"")};function Fo(e=[]){let t=e.flatMap(a=>a.stopped??[]);if(t.length===0)return"No holder must stop.";let n=t.filter(a=>a.drain_left).length,o=[];t.length>n&&o.push(`${D(t.length-n,"holder","holders")} must stop`),n&&o.push(`the ${n===1?"drain of 1 holder is":`drains of ${n} holders are`} cut short`);let s=`${o.join(", ")}; every slot is free within ${Y(Math.max(...t.map(a=>N(a.free_within))))}.`;return s[0].toUpperCase()+s.slice(1)}function jo(e=[],t=[]){let n=new Map;for(let o of e)for(let s of o.warnings??[])n.set(s,[...n.get(s)??[],o.semaphore]);return[...t,...[...n].map(([o,s])=>`${Ue(s)}: ${o}`)]}var ss=e=>`${e.length===1?"change":"changes"} ${Ue(e,5)}`;function vn(e){let t=[];return e.group_pattern&&t.push(`group ${e.group_pattern}`),e.acquirer_pattern&&t.push(`acquirer ${e.acquirer_pattern}`),e.until&&t.push(`until ${M(e.until)}`),t.join(", ")}function qo(e){let t=[],n=A(e.kind,"EVENT_KIND_");e.until&&n!=="resumed"&&t.push(`until ${M(e.until)}`);let o=e.pause;if(o&&n!=="resumed"&&((n==="created"||n==="deleted")&&t.push("while paused"),o.until&&t.push(`until ${M(o.until)}`),o.stop&&t.push(o.drain?`holders must stop within ${Y(N(o.drain))}`:"holders must stop")),e.pause_before&&t.push(`instead of the pause of change ${e.pause_before.change}`),e.cordon&&t.push(`“${e.cordon.id}”, ${vn(e.cordon)}`),e.cordon_before&&t.push(`instead of that of change ${e.cordon_before.change}`),e.firings?.firings?.length){let a=e.firings.firings.map(l=>We(l.firing)),i=n==="firings remembered"?"remembered again":"forgotten";t.push(`${D(a.length,"firing","firings")} ${i} (${Ue(a)})`)}(e.binding_before||e.binding_after)&&t.push(`binding ${(e.binding_after??e.binding_before).name}`),e.undoes&&e.undoes!=="0"&&t.push(`undoes ${ss([e.undoes,...e.also_undoes??[]])}`),e.permit&&t.push(`${L(e.permit.identity)}, token ${e.permit.token}`);let s=A(e.missed,"MISSED_KIND_");return s&&t.push(s),e.drain&&t.push(`drain ${Y(N(e.drain))}`),[...new Set(t)].join("; ")}var as={created:"run",replaced:"accent",deleted:"deny",paused:"pause",resumed:"run",cordoned:"deny",uncordoned:"run",granted:"run",released:"idle",expired:"stop",held:"stop",cleared:"run",stopping:"stop",missed:"stop",heard:"run","freed unsafely":"deny"},Uo=e=>as[A(e,"EVENT_KIND_")]??"idle",Ho=e=>["CREATED","REPLACED","DELETED","PAUSED","RESUMED","CORDONED","UNCORDONED","FIRINGS_FORGOTTEN","FIRINGS_REMEMBERED"].includes(e.kind?.slice(11));function bn(e){let t=A(e.role,"ROLE_");return e.semaphores?.length&&(t+=` on ${e.semaphores.join(", ")}`),e.labels&&(t+=` where ${e.labels}`),e.group&&(t+=` in group ${e.group}`),e.acquirer&&(t+=` as acquirer ${e.acquirer}`),t}function z({caption:e,columns:t,rows:n,rowKey:o,empty:s,note:a}){return n?.length?r`<div class="table-wrap">
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
  </div>`:s??r`<${R} title="Nothing here." />`}function Ie({of:e}){return r`<dl class="facts">
    ${e.filter(([,t])=>t!=null&&t!=="").map(([t,n])=>r`<div><dt>${t}</dt><dd>${n}</dd></div>`)}
  </dl>`}function we({share:e,tone:t="accent",label:n}){let o=Math.max(0,Math.min(1,e||0));return r`<span class="bar tone-${t}" role="img" aria-label=${n}>
    <span class="bar-fill" style=${{transform:`scaleX(${o.toFixed(4)})`}}></span>
  </span>`}function Bt({at:e,of:t,what:n="expires unless it is refreshed"}){if(Me(),!e)return r`<span class="faint">–</span>`;let o=Math.max(0,e-Date.now()),s=t&&o/t<.34;return r`<span class="deadline" title=${n}>
    ${t>0&&r`<${we} share=${o/t} tone=${s?"wait":"run"} label="${at(o)} left" />`}
    <span class="num">${at(o)}</span>
  </span>`}function pe({at:e}){return Me(),e?r`<time class="num" datetime=${e} title=${new Date(e).toLocaleString()}>${at(st()-Date.parse(e))}</time>`:"–"}function Wo({parts:e,total:t,label:n}){let o=0;return r`<svg class="segments" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label=${n}>
    <rect class="track" x="0" y="0" width="1000" height="10" />
    ${e.filter(([s])=>s>0).map(([s,a])=>{let i=t?1e3*s/t:0,l=r`<rect class="fill-${a}" x=${o} y="0" width=${i} height="10" />`;return o+=i,l})}
  </svg>`}var Be=50;function yn({before:e,after:t}){if(!e&&!t)return null;if(!e)return r`<span>created</span>`;if(!t)return r`<span>deleted</span>`;let n=gn(e,t);return n.length===0?r`<span class="faint">–</span>`:r`<ul class="changes">
    ${n.map(o=>r`<li>
        <span class="change-name">${o.field.name}</span>
        <del>${o.before||"(none)"}</del><span class="sr-only"> becomes </span><ins>${o.after||"(none)"}</ins>
      </li>`)}
  </ul>`}function is({effects:e}){let t=e.flatMap(n=>n.stopped??[]);return t.length===0?null:r`<section>
    <h3>Must stop</h3>
    <${z}
      caption="Holders that must stop"
      rows=${t.slice(0,Be)}
      rowKey=${n=>n.permit.token}
      columns=${[["Semaphore",n=>n.permit.semaphore,"name"],["Holder",n=>L(n.permit.identity),"name"],["Token",n=>n.permit.token,"num"],["Since",n=>r`<${pe} at=${n.permit.granted_at} />`,"num"],["Free within",n=>Y(N(n.free_within))+(n.drain_left?` (its drain had ${Y(N(n.drain_left))} left)`:""),"num"]]}
      note=${t.length>Be&&`and ${b(t.length-Be)} more`}
    />
  </section>`}function Bo({of:e}){let t=e.effects??[],n=t.filter(i=>i.total_admitted||i.total_shut_out||!i.before!=!i.after||gn(i.before,i.after).length),o=jo(t,e.warnings),s=t.flatMap(i=>i.held??[]),a=t.filter(i=>Number(i.waiting_tasks));return r`<div class="effects">
    <p class="lead">${Fo(t)}</p>
    ${e.confirm?.length>0&&r`<ul class="confirm">${e.confirm.map(i=>r`<li>${i.text}</li>`)}</ul>`}
    ${o.length>0&&r`<ul class="warnings">${o.slice(0,20).map(i=>r`<li>${i}</li>`)}</ul>`}
    ${n.length>0&&r`<section>
      <h3>${D(n.length,"semaphore changes","semaphores change")}</h3>
      <${z}
        caption="Semaphores that change"
        rows=${n.slice(0,Be)}
        rowKey=${i=>i.semaphore}
        columns=${[["Semaphore",i=>i.semaphore,"name"],["Changes",i=>r`<${yn} before=${i.before} after=${i.after} />`],["Lets in",i=>_n(i.admitted,i.total_admitted??0)||"–"],["Shuts out",i=>_n(i.shut_out,i.total_shut_out??0)||"–"],["Stops",i=>b(i.stopped?.length),"num"],["Continue",i=>b(i.unaffected),"num"]]}
        note=${n.length>Be&&`and ${b(n.length-Be)} more`}
      />
    </section>`}
    <${is} effects=${t} />
    ${s.length>0&&r`<section><h3>Held for an operator</h3>
      <ul>${s.slice(0,Be).map(i=>r`<li>${i.semaphore}: the permit of ${L(i.identity)} (token ${i.token}) expired. Its slot stays taken until it is cleared.</li>`)}</ul>
    </section>`}
    ${a.length>0&&r`<ul>${a.slice(0,Be).map(i=>r`<li>${i.semaphore}: ${D(i.waiting_tasks,"task waits","tasks wait")} for a worker${i.tasks_run?`; after this change, ${i.tasks_run}`:""}.</li>`)}</ul>`}
  </div>`}function ve(e){let{title:t,verb:n,kind:o,preview:s,run:a,done:i,onClose:l,onDone:u,onError:d,role:c,semaphore:h,nothing:m,deps:p,extra:f,children:v}=e,[$,w]=g(0),y=x(s,[t,$,p],{keep:!0}),O=y.loading||y.error,[I,k]=g(""),[Q,se]=g(!1),[oe,le]=g(null),G=J(null),V=y.data&&m?.(y.data);T(()=>{y.error&&d?.(y.error)&&l()},[y.error]),T(()=>{G.current=null},[JSON.stringify(p)]);let re=()=>{G.current=null,le(null),w($+1)};async function _(ae){if(ae.preventDefault(),!(Q||O||V)){se(!0),le(null),G.current??=Lt();try{let j=await a({reason:I,...$e(),...G.current},y.data),E=j.revision??j.change,W=E&&E!=="0"?{text:"Undo",run:()=>nt(E)}:void 0;ye(i(j),{action:W}),u?.(j,y.data),l()}catch(j){j.code!=="UNAVAILABLE"&&(G.current=null),le(j),se(!1),d?.(j)&&l()}}}return r`<${de} title=${t} onClose=${l} wide>
    <form onSubmit=${_}>
      ${v}
      <${H} of=${y} what="Asking what this would do">
        ${ae=>r`${f?.(ae)}<${Bo} of=${ae} />${ae.notes?.length>0&&r`<ul>${ae.notes.map(j=>r`<li>${j}</li>`)}</ul>`}
        ${V&&r`<p class="lead">${V}</p>`}`}
      <//>
      <${P} label="Reason" help="For the journal: why you do this." value=${I} onInput=${k} maxlength="1024" />
      ${oe&&r`<${U} error=${oe} retry=${/CHANGED_SINCE|STALE|CONFLICT/.test(oe.reason)?re:void 0} />`}
      <p class="row end">
        <button type="button" onClick=${l}>Cancel</button>
        <${q} role=${c} semaphore=${h} type="submit" kind=${o??"primary"} why=${O?"There is no preview yet.":V}>
          ${Q?"Working …":typeof n=="function"?n(y.data??{}):n}
        <//>
      </p>
    </form>
  <//>`}var wn=fe(null);function nt(e,t){wn.set({change:String(e),onDone:t})}function Ko(){let e=K(wn);return e?r`<${ve}
    key=${e.change}
    title=${`Undo change ${e.change}`}
    verb="Undo it"
    preview=${()=>C("/v1/undo",{change:e.change,dry_run:!0,...$e()})}
    nothing=${t=>t.undone_by&&t.undone_by!=="0"?`It was undone already, by change ${t.undone_by}.`:t.nothing?"Nothing is left to undo.":""}
    run=${(t,n)=>C("/v1/undo",{change:e.change,plan:n.plan,...t})}
    done=${()=>`Change ${e.change} is undone.`}
    onDone=${e.onDone}
    onClose=${()=>wn.set(null)}
  />`:null}var ls=[["/","Overview"],["/move","Move and pause"],["/activity","Activity"],["/jobs","Jobs"],["/cluster","Cluster"],["/access","Access"]],kn=At("theme","auto");kn.subscribe(e=>{e==="auto"?delete document.documentElement.dataset.theme:document.documentElement.dataset.theme=e});function cs(){let e=K(kn),t={auto:"light",light:"dark",dark:"auto"}[e];return r`<button type="button" class="plain" onClick=${()=>kn.set(t)} title="Theme: ${e}. Click for ${t}.">
    <svg class="glyph" viewBox="0 0 16 16" aria-hidden="true">
      <circle cx="8" cy="8" r="6" /><path class="solid" d=${e==="auto"?"M8 2a6 6 0 0 1 0 12z":e==="dark"?"M8 2a6 6 0 0 1 0 12 6 6 0 0 1 0-12z":"M8 8z"} />
    </svg>
    <span class="sr-only">Theme: ${e}. Change to ${t}</span>
  </button>`}var us=[["/","Search"],["↑ ↓","Move in a list; Home, End, Page Up and Page Down too"],["Enter","Open"],["Esc","Leave a field, close a dialog, or go back"],["g then o, m, a, j, c","Overview, Move and pause, Activity, Jobs, Cluster"],["?","These keys"]];function ps({onClose:e}){return r`<${de} title="Keys" onClose=${e}>
    <dl class="keys">${us.map(([t,n])=>r`<div><dt><kbd>${t}</kbd></dt><dd>${n}</dd></div>`)}</dl>
  <//>`}function ds(){let e=K(De),t=K(jt),[n,o]=g(!1);if(!e)return null;let s=e.authenticated?e.principal||e.credential:t||"dashboard";return r`<button type="button" class="plain who" onClick=${()=>o(!0)}><span class="sr-only">You are </span>${s}</button>
    ${n&&r`<${de} title="You" onClose=${()=>o(!1)}>
      ${e.authenticated?r`<p>The servers see you as <strong>${e.principal}</strong>, by ${e.credential}. <a href="/access">What you may do</a></p>
            <p class="row end"><button type="button" onClick=${()=>wo().catch(()=>{}).then(()=>he("/login"))}>Log out</button></p>`:r`<p>These servers do not authenticate callers: everybody may do everything.</p>
            <${P} label="Your name" help="The journal shows it as the author of your changes. Nobody checks it." value=${t} onInput=${a=>jt.set(a)} maxlength="256" />
            <p class="row end"><button type="button" class="primary" onClick=${()=>o(!1)}>Done</button></p>`}
    <//>`}`}function ms(){let e=x(o=>S("/v1/status",{},o),["status"],{every:1e4,keep:!0}),t=K(Ce).online,n=e.data;return t?n?r`<a class="leader" href="/cluster">
    ${n.leader_id?r`<span class="lamp tone-run" aria-hidden="true"></span><span>${n.leader_id}<span class="long"> leads</span></span>`:r`<span class="lamp tone-deny" aria-hidden="true"></span>no leader`}
  </a>`:r`<a class="leader" href="/cluster"><span class="sr-only">Cluster: </span>…</a>`:r`<a class="leader" href="/cluster"><span class="lamp tone-deny" aria-hidden="true"></span>no answer</a>`}var fs={o:"/",m:"/move",a:"/activity",j:"/jobs",c:"/cluster"};function Kt({children:e,bare:t}){let n=K(Ze).split("?")[0],[o,s]=g(!1),a=J(null),i=J(!0),l=J(0);return T(()=>{if(i.current){i.current=!1;return}scrollTo(0,0),a.current?.querySelector("h1")?.focus()},[n]),Io({"?":()=>s(!0),"/":u=>{let d=document.querySelector("[data-search]");d&&(u.preventDefault(),d.focus(),d.select())},Escape:(u,d)=>{d?u.target.blur():n!=="/"&&go()},g:()=>l.current=Date.now(),...Object.fromEntries(Object.entries(fs).map(([u,d])=>[u,()=>Date.now()-l.current<1500&&document.querySelector(`.nav a[href="${d}"]`)?.click()]))}),r`<a class="skip" href="#main">Skip to the content</a>
    ${!t&&r`<header class="top">
      <a class="brand" href="/"><img src="/assets/icon.svg" alt="" width="24" height="24" /><span>Gatekeeper</span></a>
      <nav class="nav" aria-label="Views">
        ${ls.map(([u,d])=>{let c=u==="/"?n==="/"||n.startsWith("/s/"):n===u||n.startsWith(`${u}/`);return r`<a href=${u} aria-current=${c?"page":void 0}>${d}</a>`})}
      </nav>
      <div class="tools">
        <${ms} />
        <${ds} />
        <${cs} />
        <button type="button" class="plain" onClick=${()=>s(!0)} title="Keys"><span aria-hidden="true">?</span><span class="sr-only">Keys</span></button>
      </div>
    </header>`}
    <${Ro} />
    <main id="main" tabindex="-1" ref=${a}>${e}</main>
    <${Oo} />
    <${Ko} />
    ${o&&r`<${ps} onClose=${()=>s(!1)} />`}`}function X({children:e,aside:t}){return r`<div class="title"><h1 tabindex="-1">${e}</h1>${t&&r`<div class="row">${t}</div>`}</div>`}var zo=[["viewer","–","see definitions, permits, queues, history, jobs and status"],["acquirer","viewer","acquire, keep and release permits, take over, verify, submit jobs and work on them"],["verifier","–","verify permits, for a guarded resource"],["operator","viewer","pause, move, cordon, revoke and clear; cancel, retry and delete jobs; undo these"],["editor","viewer","create, replace and delete definitions; undo that"],["admin","all","everything, also change members, settings, bindings and tokens"]];function hs(){let[e,t]=g({role:"ROLE_OPERATOR",semaphore:""}),[n,o]=g(null),[s,a]=g(null);return r`<section class="panel stack">
    <h2>May I?</h2>
    <form class="form" onSubmit=${l=>{l.preventDefault(),C("/v1/can-i",{role:e.role,semaphore:e.semaphore.trim()}).then(u=>(o(u),a(null)),a)}}>
      <${Re} label="Role" value=${e.role} onChange=${l=>t({...e,role:l})} options=${zo.map(([l])=>[`ROLE_${l.toUpperCase()}`,l])} />
      <${P} label="On semaphore" value=${e.semaphore} onInput=${l=>t({...e,semaphore:l})} help="Empty: anywhere." />
      <p class="row full"><button class="primary">Ask</button></p>
    </form>
    <div role="status">
      ${n&&(n.allowed?r`<p class="lead tone-run">Yes.</p>`:r`<p class="lead"><strong class="tone-deny">No.</strong> ${n.reason}</p>`)}
    </div>
    ${s&&r`<${U} error=${s} />`}
  </section>`}function $s(){let e=x(t=>S("/v1/bindings",{},t),["bindings"]);return e.error?e.error.code==="PERMISSION_DENIED"?r`<${R} title="Only administrators see who may do what." />`:r`<${U} error=${e.error} retry=${e.refresh} />`:e.data?r`<${z}
      caption="Bindings"
      rows=${e.data.bindings}
      rowKey=${t=>t.name}
      empty=${r`<${R} title="There are no bindings." />`}
      columns=${[["Name",t=>t.name,"name"],["Subjects",t=>(t.subjects??[]).join(", ")||"–","name"],["May",t=>r`<ul class="changes">${(t.grants??[]).map(n=>r`<li>${bn(n)}</li>`)}</ul>`],["Tokens",t=>(t.tokens??[]).map(n=>`${n.id}${n.expires_at?` until ${M(n.expires_at)}`:""}`).join(", ")||"–"],["Changed",t=>`${M(t.updated_at)}${t.updated_by?` by ${t.updated_by}`:""}`,"num"]]}
    />
    <p class="faint">Change them with <code>gkctl auth bind</code>, <code>unbind</code> and <code>token</code>.</p>`:r`<${ge} what="Reading the bindings" />`}function Vo(){ne("Access");let e=K(De);return r`<${X}>Access<//>
    <div class="stack">
      <section class="panel">
        <h2>You</h2>
        ${e?e.authenticated?r`<${Ie} of=${[["Principal",e.principal],["Credential",e.credential],["You may",(e.grants??[]).map(bn).join("; ")||"nothing"],["Acquirers",(e.acquirers??[]).join(", ")]]} />`:r`<p>These servers do not authenticate callers: everybody may do everything.</p>`:r`<${ge} what="Asking who you are" />`}
      </section>
      <div class="panels">
        <${hs} />
        <section class="panel"><h2>Roles</h2>
          <${z} caption="Roles" rows=${zo} columns=${[["Role",t=>t[0]],["Includes",t=>t[1]],["May",t=>t[2]]]} />
        </section>
      </div>
      <section class="panel"><h2>Who may do what</h2><${$s} /></section>
    </div>`}var gs=["EVENT_KIND_CREATED","EVENT_KIND_REPLACED","EVENT_KIND_DELETED"],_s=e=>gs.includes(e)?"ROLE_EDITOR":"ROLE_OPERATOR";function wt({entries:e,semaphore:t,onChange:n}){let o="";return r`<ol class="entries">
    ${e.map(s=>{let a=s.revision!==o;return o=s.revision,r`<li key=${`${s.revision}.${s.ordinal??0}`} class=${a?"":"same"}>
        <div class="entry-head">
          <time class="num" datetime=${s.at} title=${M(s.at)}>${it(s.at)}</time>
          <span class="tag tone-${Uo(s.kind)}">${A(s.kind,"EVENT_KIND_")}</span>
          ${!t&&s.semaphore&&r`<a class="mono" href=${`/s/${encodeURIComponent(s.semaphore)}`}>${s.semaphore}</a>`}
          <span class="grow">${qo(s)}</span>
          <span class="faint"><a href=${`/activity?change=${s.revision}`}>change ${s.revision}</a>${s.author&&` by ${s.author}`}</span>
          ${a&&Ho(s)&&r`<${q} role=${_s(s.kind)} semaphore=${s.semaphore??""} onClick=${()=>nt(s.revision,n)}>Undo …<//>`}
        </div>
        ${s.reason&&r`<p class="entry-reason">${s.reason}</p>`}
        ${s.before&&s.after&&r`<${yn} before=${s.before} after=${s.after} />`}
      </li>`})}
  </ol>`}function Jo(){ne("Activity");let[e,t]=F(),n=e.get("change")??"";return r`<${X} aside=${n&&r`<a class="button" href="/activity">All activity</a>`}>${n?`Change ${n}`:"Activity"}<//>
    ${n?r`<${ys} change=${n} />`:r`<${bs} params=${e} change=${t} />`}`}var vs=e=>e.split(/[\s,]+/).filter(Boolean).map(t=>/[*?[]/.test(t)?t:`*${t}*`);function bs({params:e,change:t}){let[n,o]=Se(e.get("q")??"",$=>t({q:$}),300),[s,a]=Se(e.get("labels")??"",$=>t({labels:$}),400),i=e.get("permits")==="1",l=e.get("by")??"",[u,d]=Se(l,$=>t({by:$}),300),[c,h]=g(50),m={names:vs(e.get("q")??""),labels:e.get("labels")??"",permits:i},p=x($=>S("/v1/history",{...m,page_size:c},$),["journal",m,c],{every:15e3,keep:!0}),f=Le(p.refresh,i?500:60);Ae("/v1/watch",m,{message:({events:$=[]})=>$.length&&f(),missed:f,open:$=>$&&f()});let v=(p.data?.entries??[]).filter($=>!l||($.author??"").toLowerCase().includes(l.toLowerCase()));return r`<form class="filters" role="search" onSubmit=${$=>$.preventDefault()}>
      <div class="field grow"><label for="activity-q">Semaphores <kbd aria-hidden="true">/</kbd></label><input id="activity-q" data-search value=${n} onInput=${$=>o($.target.value)} placeholder="part of a name, or a glob" spellcheck=${!1} autocomplete="off" /></div>
      <div class="field"><label for="activity-by">By</label><input id="activity-by" value=${u} onInput=${$=>d($.target.value)} spellcheck=${!1} autocomplete="off" /></div>
      <div class="field"><label for="activity-labels">Labels</label><input id="activity-labels" value=${s} onInput=${$=>a($.target.value)} spellcheck=${!1} autocomplete="off" /></div>
      <${ue} label="Also how permits ended" checked=${i} onChange=${$=>t({permits:$?"1":""})} />
    </form>
    <section class="panel">
      <${H} of=${p} what="Reading the journal">
        ${$=>r`
          ${v.length?r`<${wt} entries=${v} onChange=${p.refresh} />`:r`<${R} title="The journal has nothing of that.">Edits, pauses, cordons and undos appear here as they happen.<//>`}
          ${$.next_page_token&&c<1e3&&r`<p class="row"><button type="button" onClick=${()=>h(Math.min(1e3,c*4))}>Show more</button></p>`}`}
      <//>
    </section>`}function ys({change:e}){let t=x(n=>S("/v1/history",{change:e,page_size:1e3},n),["change",e]);return r`<section class="panel">
    <${H} of=${t} what="Reading the journal">
      ${({entries:n=[],missing:o,next_page_token:s})=>r`
        ${o&&r`<p class="note">The journal has forgotten a part of this change${o.semaphores?.length?`: ${o.semaphores.join(", ")}`:""}.</p>`}
        ${n.length?r`<${wt} entries=${n} onChange=${t.refresh} />`:r`<${R} title=${`The journal has no change ${e}.`} />`}
        ${s&&r`<p class="faint">Only its first 1,000 entries are shown.</p>`}
        ${n.length>0&&n[0].undoes&&r`<p><a href=${`/activity?change=${n[0].undoes}`}>The change that it undoes</a></p>`}`}
    <//>
  </section>`}var zt="M4 14V2",Go={idle:[zt,"M4 4l8-2"],running:[zt,"M4 3l9 4v-3l-9-2z"],waiting:[zt,"M4 5h9","M8 9h1M11 9h1M14 9h0"],paused:["M5.5 3v10","M10.5 3v10"],stopping:[zt,"M4 4h9v4H4z"],"held for an operator":["M5 7V5a3 3 0 0 1 6 0v2","M4 7h8v6H4z"],missed:["M8 2a6 6 0 1 0 .1 0z","M8 5v3.5l2.5 1.5"],denied:["M8 2a6 6 0 1 0 .1 0z","M4.5 8h7"],disabled:["M3.5 3.5l9 9","M12.5 3.5l-9 9"],cordoned:["M8 2a6 6 0 1 0 .1 0z","M4 4l8 8"]};function En({word:e}){let t=Go[e]??Go.idle;return r`<svg class="glyph" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    ${t.map(n=>r`<path d=${n} />`)}
  </svg>`}function kt({value:e,text:t}){let n=No(e);return r`<span class="state tone-${n.tone}"><${En} word=${n.word} /><span>${t??n.word}</span></span>`}function Qo({record:e}){let t=yt(e)[0];return r`<${kt} value=${t?.value} text=${Mo(e)} />`}function Vt({tone:e="idle",children:t}){return r`<span class="tag tone-${e}">${t}</span>`}var ws=()=>x(e=>S("/v1/cordons",{},e),["cordons"],{every:15e3,keep:!0});function Ke(){let e=ws(),[t,n]=g(null),o=e.data?.cordons??[];if(o.length===0)return null;let s=a=>C("/v1/uncordon",{id:a.id,...$e(),...Lt()}).then(i=>{ye(`Cordon ${a.id} is ended.`,{action:{text:"Undo",run:()=>nt(i.revision,e.refresh)}}),n(null),e.refresh()},n);return r`<section class="cordons" aria-label="Cordons in force">
    <${U} error=${t} />
    <ul>
      ${o.map(a=>r`<li key=${a.id}>
          <span class="state tone-deny"><${En} word="cordoned" />cordoned</span>
          <span class="grow">${vn(a)}${a.reason&&`: ${a.reason}`}${a.author&&r`<span class="faint"> by ${a.author}</span>`}</span>
          <${q} role="ROLE_OPERATOR" onClick=${()=>s(a)}>End it<//>
        </li>`)}
    </ul>
  </section>`}function ks({member:e,onClose:t,onDone:n}){let[o,s]=g(null);return r`<${de} title="Hand leadership over" onClose=${t}>
    <form onSubmit=${i=>{i.preventDefault(),C("/v1/leadership:transfer",{id:e.id}).then(l=>{ye(`${l.leader_id} leads.`),n(),t()},s)}}>
      <p>${e.id} becomes the leader. Permits survive; calls wait a moment.</p>
      <${U} error=${o} />
      <p class="row end"><button type="button" onClick=${t}>Cancel</button><button class="primary">Let ${e.id} lead</button></p>
    </form>
  <//>`}function Es({status:e,onChange:t}){let[n,o]=g(null);return r`<section class="panel">
    <h2>Members</h2>
    <${z}
      caption="Members"
      rows=${e.members}
      rowKey=${s=>s.id}
      columns=${[["Server",s=>r`${s.id}${s.id===e.id&&r`<span class="faint"> (answers you)</span>`}`,"name"],["Role",s=>s.leader?r`<strong class="tone-run">leader</strong>`:s.voter?"follower":"non-voter"],["API",s=>s.api_address||"–","name"],["Peers",s=>s.peer_address||"–","name"],["",s=>s.voter&&!s.leader&&r`<${q} role="ROLE_ADMIN" onClick=${()=>o(s)}>Let it lead …<//>`,"end"]]}
    />
    ${n&&r`<${ks} member=${n} onClose=${()=>o(null)} onDone=${t} />`}
  </section>`}function xs({of:e}){return r`<section class="panel">
    <h2>Certificates</h2>
    <${z}
      caption="Certificates of this server"
      rows=${e}
      empty=${r`<${R} title="This server uses no TLS." />`}
      columns=${[["Port",t=>A(t.port,"CERTIFICATE_PORT_")],["Subject",t=>t.subject||"–","name"],["Ends",t=>{if(t.error)return r`<span class="tone-deny">${t.error}</span>`;let n=Date.parse(t.not_after)-st();return r`<span class=${n<7*864e5?"tone-deny":n<30*864e5?"tone-wait":""}>${M(t.not_after)}, ${n>0?`in ${Y(n)}`:"it has ended"}</span>`}]]}
    />
  </section>`}var Ts=e=>N(e)<0?`${xe(-N(e))} behind`:`${xe(N(e))} ahead`;function Ss({status:e}){let t=[...(e.member_clocks??[]).map(o=>({name:`server ${o.id}`,ahead:o.ahead})),...(e.host_clocks??[]).map(o=>({name:L(o),ahead:o.ahead,seen:o.seen}))],n=e.role==="SERVER_ROLE_LEADER";return r`<section class="panel">
    <h2>Clocks</h2>
    <${z}
      caption="Clocks that are off"
      rows=${t.slice(0,100)}
      empty=${r`<${R} title=${n?"No clock is off.":"Only the leader compares clocks."} />`}
      columns=${[["Whose",o=>o.name,"name"],["Off by",o=>r`<span class="tone-stop">${Ts(o.ahead)}</span>`,"num"],["Seen",o=>o.seen?r`<${pe} at=${o.seen} /> ago`:"within the last minute","num"]]}
    />
  </section>`}function Cs({status:e}){let t=Number(e.work_bytes??0),n=Number(e.max_work_bytes??0);return r`<section class="panel">
    <h2>Stored for jobs</h2>
    <p class="row"><${we} share=${n?t/n:0} label="${Te(t)} of ${Te(n)}" /><span class="num">${Te(t)} of ${Te(n)}</span></p>
    <${z}
      caption="Semaphores with jobs"
      rows=${e.work}
      empty=${r`<${R} title="There are no jobs." />`}
      columns=${[["Semaphore",o=>r`<a href=${`/s/${encodeURIComponent(o.semaphore)}?tab=tasks`}>${o.semaphore}</a>`,"name"],["Jobs",o=>b(o.jobs),"num"],["Waiting",o=>b(o.waiting),"num"],["Running",o=>b(o.held),"num"],["Stored",o=>Te(o.bytes),"num"]]}
    />
  </section>`}function Ds(){let e=x(n=>S("/v1/settings",{stale:!0},n),["settings"]),t=(n,o)=>typeof o=="string"&&/s$/.test(o)?xe(N(o)):/bytes/.test(n)?Te(o):b(o);return r`<section class="panel">
    <h2>Settings</h2>
    <${H} of=${e} what="Reading the settings">
      ${n=>r`<${Ie} of=${Object.entries(n.settings??{}).map(([o,s])=>[o,t(o,s)])} />
        <p class="faint">Change them with <code>gkctl cluster settings NAME=VALUE</code>.</p>`}
    <//>
  </section>`}function Xo(){ne("Cluster");let e=x(t=>S("/v1/status",{},t),["status"],{every:2e3,keep:!0});return r`<${X}>Cluster<//>
    <${Ke} />
    <${H} of=${e} what="Asking this server">
      ${t=>{let n=Number(t.commit_index??0)-Number(t.applied_index??0);return r`<div class="stack">
          ${!t.leader_id&&r`<p class="failure" role="alert">There is no leader. Nothing is granted until a majority of the servers is there.</p>`}
          ${t.recovery_wait&&r`<p class="note">Nothing is granted for another ${Y(N(t.recovery_wait))}: a recovery is being waited out.</p>`}
          ${t.insecure&&r`<p class="note">This server was started with --insecure: its ports may be reached without TLS and authentication.</p>`}
          ${t.denied_semaphores>0&&r`<div class="note"><p>${D(t.denied_semaphores,"semaphore is","semaphores are")} asked for in vain:</p>
            <ul>${t.denied.map(o=>r`<li key=${o.semaphore}><a href=${`/s/${encodeURIComponent(o.semaphore)}`}>${o.semaphore}</a>: ${o.text||o.message}</li>`)}</ul></div>`}
          <section class="panel">
            <h2>Server ${t.id}</h2>
            <${Ie} of=${[["Cluster",r`<code>${t.cluster_id}</code>`],["Leader",t.leader_id||"none"],["This server is",A(t.role,"SERVER_ROLE_")||"stopping"],["Term",t.term],["Revision",t.revision],["Applied",r`${t.applied_index}${n>0&&r`<span class="tone-wait"> (${b(n)} behind)</span>`}`],["Definitions",b(t.definitions)],["Permits",b(t.permits)],["Waiters",t.role==="SERVER_ROLE_LEADER"?b(t.waiters):"the leader knows"],["Log writes",t.log_writes&&r`<span>${xe(Yo(t.log_writes.median))} median, ${xe(Yo(t.log_writes.longest))} longest, of ${b(t.log_writes.count)}</span>`],["Last snapshot",t.last_snapshot?r`${t.last_snapshot.taken_at?r`<${pe} at=${t.last_snapshot.taken_at} /> ago`:`index ${t.last_snapshot.index}`}, ${Te(t.last_snapshot.bytes)}`:"none yet"],["Smallest safe duration",t.smallest_duration&&xe(N(t.smallest_duration))],["Version",t.version],["Feature level",t.feature_level],["Up for",t.uptime&&Y(N(t.uptime))]]} />
          </section>
          <div class="panels">
            <${Es} status=${t} onChange=${e.refresh} />
            <${xs} of=${t.certificates} />
            <${Ss} status=${t} />
            <${Cs} status=${t} />
          </div>
          <${Ds} />
        </div>`}}
    <//>`}var Yo=e=>+(parseFloat(e??"0")*1e3).toFixed(2);var xn=e=>e.failed?"deny":e.over?"run":A(e.state,"JOB_STATE_")==="cancelled"?"stop":"accent",Tn=e=>{let t=A(e.state,"JOB_STATE_");return t==="cancelled"&&!e.over?"cancelled, some tasks still run":t},Sn=e=>["waiting","held","done","failed","dropped","cancelled"].filter(t=>e[t]).map(t=>`${b(e[t])} ${t}`).join(", ");function Cn({job:e}){let t=e.tasks??0,n=`${b(e.done)} of ${D(t,"task","tasks")} done`;return r`<div class="job-progress">
    <${Wo}
      total=${t}
      label="${n}; ${Sn(e)}"
      parts=${[[e.done??0,"run"],[e.held??0,"accent"],[e.failed??0,"deny"],[e.dropped??0,"stop"],[e.cancelled??0,"idle"]]}
    />
    <span class="num">${n}</span>
  </div>`}function Dn({jobs:e}){return r`<${z}
    caption="Jobs"
    rows=${e}
    rowKey=${t=>t.submitted_revision}
    columns=${[["Job",t=>r`<a href=${`/jobs/${encodeURIComponent(t.spec.id)}`}>${t.spec.id}</a>`,"name"],["Semaphore",t=>r`<a href=${`/s/${encodeURIComponent(t.spec.semaphore)}`}>${t.spec.semaphore}</a>`,"name"],["State",t=>r`<span class="tag tone-${xn(t)}">${Tn(t)}</span>`],["Progress",t=>r`<${Cn} job=${t} />`],["Failed",t=>t.failed?r`<strong class="tone-deny">${b(t.failed)}</strong>`:"0","num"],["Submitted",t=>r`<span title=${M(t.submitted_at)}><${pe} at=${t.submitted_at} /> ago</span>${t.spec.author&&r`<div class="sub">by ${t.spec.author}</div>`}`,"num"],["Stored",t=>Te(t.bytes),"num"]]}
  />`}function Zo(e){return e.away?["away","stop"]:e.draining?["draining","wait"]:e.denied&&e.denied!=="REASON_UNSPECIFIED"?[`denied: ${A(e.denied,"REASON_")}`,"deny"]:e.waiting?["waiting","wait"]:e.tasks?.length?["working","run"]:["idle","idle"]}var Rs=e=>e.state==="PERMIT_STATE_HELD"?"lost: clear its slot":e.state==="PERMIT_STATE_COOLING"?`lost: cools for ${Y(N(e.expires_in))}`:"";function Rn({data:e}){let t=[...e.workers??[],...e.away??[]];return r`<${z}
    caption="Workers"
    rows=${t}
    rowKey=${(n,o)=>`${n.semaphore} ${L(n.identity)} ${n.identity?.holder_id} ${o}`}
    empty=${r`<${R} title="Nobody works.">A worker is a program that takes tasks, as gkctl work does.<//>`}
    columns=${[["Worker",n=>L(n.identity),"name"],["Semaphore",n=>r`<a href=${`/s/${encodeURIComponent(n.semaphore)}`}>${n.semaphore}</a>`,"name"],["State",n=>r`<span class="tag tone-${Zo(n)[1]}">${Zo(n)[0]}</span>`],["Free",n=>b(n.free),"num"],["Tasks",n=>n.tasks?.length?r`<ul class="held">${n.tasks.slice(0,8).map(o=>r`<li key=${o.token}><a href=${`/jobs/${encodeURIComponent(o.job)}`}>${o.job}</a> ${b(o.index)}, for <${pe} at=${o.granted_at} />
                ${o.progress&&r` <${we} share=${o.progress.fraction} label="${Math.round(100*(o.progress.fraction??0))} %" /> ${o.progress.text}`} ${Rs(o)}</li>`)}${n.tasks.length>8&&r`<li>and ${b(n.tasks.length-8)} more</li>`}</ul>`:"–"]]}
  />`}var Os=[["","any"],["JOB_STATE_OPEN","open"],["JOB_STATE_ENDED","ended"],["JOB_STATE_CANCELLED","cancelled"],["JOB_STATE_RECEIVING","receiving"]];function As(){let[e,t]=F(),[n,o]=Se(e.get("semaphore")??"",c=>t({semaphore:c}),300),[s,a]=Se(e.get("labels")??"",c=>t({labels:c}),300),i={semaphore:e.get("semaphore")??"",labels:e.get("labels")??"",states:e.getAll("state")},[l,u]=g(""),d=x(c=>S("/v1/jobs",{...i,page_size:100,page_token:l},c),["jobs",i,l],{every:2e3,keep:!0});return r`<form class="filters" role="search" onSubmit=${c=>c.preventDefault()}>
      <div class="field"><label for="job-semaphore">Semaphore</label><input id="job-semaphore" data-search value=${n} onInput=${c=>o(c.target.value)} spellcheck=${!1} /></div>
      <div class="field"><label for="job-labels">Labels</label><input id="job-labels" value=${s} onInput=${c=>a(c.target.value)} placeholder="team=billing" spellcheck=${!1} /></div>
      <${Re} label="State" value=${e.get("state")??""} onChange=${c=>t({state:c})} options=${Os} />
    </form>
    <section class="panel">
      <${H} of=${d} what="Reading the jobs">
        ${c=>r`
          ${c.jobs?.length?r`<${Dn} jobs=${c.jobs} />`:r`<${R} title="No job matches.">Jobs are submitted by programs, or with gkctl job submit.<//>`}
          <p class="row end">
            ${l&&r`<button type="button" onClick=${()=>u("")}>First page</button>`}
            ${c.next_page_token&&r`<button type="button" onClick=${()=>u(c.next_page_token)}>Next page</button>`}
          </p>`}
      <//>
    </section>`}function Is(){let e=x(t=>S("/v1/workers",{},t),["workers"],{every:2e3,keep:!0});return r`<section class="panel"><${H} of=${e} what="Reading the workers">${t=>r`<${Rn} data=${t} />`}<//></section>`}function er(){ne("Jobs");let[e]=F();return r`<${X}>Jobs<//>
    <${lt} of=${[["jobs","Jobs"],["workers","Workers"]]} label="Jobs and workers" />
    ${e.get("tab")==="workers"?r`<${Is} />`:r`<${As} />`}`}function Jt({title:e,text:t,verb:n,run:o,done:s,onClose:a,onDone:i,reason:l}){let[u,d]=g(""),[c,h]=g(null),[m,p]=g(!1);return r`<${de} title=${e} onClose=${a}>
    <form onSubmit=${async v=>{if(v.preventDefault(),!m){p(!0);try{ye(s(await o(u))),i(),a()}catch($){h($),p(!1)}}}}>
      <p>${t}</p>
      ${l&&r`<${P} label="Reason" value=${u} onInput=${d} maxlength="1024" />`}
      <${U} error=${c} />
      <p class="row end"><button type="button" onClick=${a}>Cancel</button><button class="primary">${m?"Working …":n}</button></p>
    </form>
  <//>`}function Ns({job:e,onChange:t}){let[n,o]=g(""),{id:s,semaphore:a}=e.spec,i=A(e.state,"JOB_STATE_"),l={onClose:()=>o(""),onDone:t},u=(d,c,h)=>r`<${q} role="ROLE_OPERATOR" semaphore=${a} why=${h} onClick=${()=>o(d)}>${c}<//>`;return r`
    ${u("retry","Retry failed …",e.failed?"":"No task has failed.")}
    ${u("drop","Drop failed …",e.failed?"":"No task has failed.")}
    ${u("cancel","Cancel …",e.over?"The job is over.":i==="cancelled"?"It is cancelled already.":"")}
    ${u("delete","Delete …",e.over?"":"The job is not over. Cancel it first.")}
    ${n==="retry"&&r`<${Jt} ...${l} title="Retry failed tasks" verb="Retry" text=${`${D(e.failed,"failed task is","failed tasks are")} handed out again.`}
      run=${()=>C(ie`/v1/jobs/${s}:retry`,{as_of:e.revision})} done=${d=>`${D(d.tasks??0,"task","tasks")} handed out again.`} />`}
    ${n==="drop"&&r`<${Jt} ...${l} title="Drop failed tasks" verb="Drop" text=${`${D(e.failed,"failed task is","failed tasks are")} given up. They cannot be retried.`}
      run=${()=>C(ie`/v1/jobs/${s}:drop`,{as_of:e.revision})} done=${d=>`${D(d.tasks??0,"task","tasks")} dropped.`} />`}
    ${n==="cancel"&&r`<${Jt} ...${l} title=${`Cancel ${s}`} verb="Cancel the job" reason
      text=${`${D(e.waiting??0,"waiting task is","waiting tasks are")} not executed, and ${D(e.held??0,"running task stops","running tasks stop")}.`}
      run=${d=>C(ie`/v1/jobs/${s}:cancel`,{reason:d,submitted_revision:e.submitted_revision,...$e()})} done=${()=>`${s} is cancelled.`} />`}
    ${n==="delete"&&r`<${Jt} ...${l} title=${`Delete ${s}`} verb="Delete the job" text="The job is removed with its results."
      run=${()=>et("DELETE",ie`/v1/jobs/${s}`,{query:{submitted_revision:e.submitted_revision}})} done=${()=>`${s} is deleted.`} onDone=${()=>he("/jobs")} />`}`}var tr={waiting:"idle",held:"accent",done:"run",failed:"deny",dropped:"stop",cancelled:"stop"},Ms=[["","any"],...Object.keys(tr).map(e=>[e,e])];function Ls({job:e,index:t,onClose:n}){let o=x(s=>S(ie`/v1/jobs/${e}/tasks`,{from:t,page_size:1,payloads:!0,results:!0},s),["task",e,t]);return r`<${de} title=${`Task ${t} of ${e}`} onClose=${n} wide>
    <${H} of=${o} what="Reading the task">
      ${s=>{let a=s.tasks?.[0];return a?r`<${Ie} of=${[["State",A(a.state,"TASK_STATE_")],["Attempts",b(a.attempts)],["Worker",a.worker&&L(a.worker)],["Token",a.token],["Returned unfinished",a.returns]]} />
          ${a.failure&&r`<h3>Failure</h3><pre>${a.failure}</pre>`}
          <h3>Payload</h3><pre>${fn(a.payload)||"(none)"}</pre>
          <h3>Result</h3><pre>${fn(a.result)||"(none)"}</pre>`:r`<${R} title="There is no such task." />`}}
    <//>
  <//>`}function Ps({id:e,round:t}){let[n,o]=F(),s=n.get("task")??"",[a,i]=g(0),[l,u]=g(null),d={states:s?[`TASK_STATE_${s.toUpperCase()}`]:[],from:a,page_size:100},c=x(h=>S(ie`/v1/jobs/${e}/tasks`,d,h),["tasks",e,d,t],{keep:!0});return r`<section class="panel">
    <div class="title"><h2>Tasks</h2>
      <${Re} label="In state" value=${s} onChange=${h=>(i(0),o({task:h}))} options=${Ms} /></div>
    <${H} of=${c} what="Reading the tasks">
      ${h=>r`<${z}
          caption="Tasks"
          rows=${h.tasks}
          rowKey=${m=>m.index??0}
          empty=${r`<${R} title="No task is in that state." />`}
          columns=${[["Task",m=>r`<button type="button" class="plain" onClick=${()=>u(m.index??0)}>${b(m.index)}<span class="sr-only">: show payload and result</span></button>`,"num"],["State",m=>r`<span class="tag tone-${tr[A(m.state,"TASK_STATE_")]}">${A(m.state,"TASK_STATE_")}</span>`],["Attempts",m=>b(m.attempts),"num"],["Worker",m=>m.worker?L(m.worker):"–","name"],["Progress",m=>m.progress?r`<${we} share=${m.progress.fraction} label=${`${Math.round(100*(m.progress.fraction??0))} %`} /> ${m.progress.text}`:"–"],["Failure",m=>m.failure||"–"]]}
        />
        <p class="row end">
          ${a>0&&r`<button type="button" onClick=${()=>i(0)}>First page</button>`}
          ${h.next>0&&r`<button type="button" onClick=${()=>i(h.next)}>Next page</button>`}
        </p>`}
    <//>
    ${l!==null&&r`<${Ls} job=${e} index=${l} onClose=${()=>u(null)} />`}
  </section>`}function nr({name:e}){ne(e);let t=x(d=>S(ie`/v1/jobs/${e}`,{},d),["job",e],{every:15e3}),[n,o]=g(0),s=Le(()=>o(d=>d+1),1e3),[a,i]=g(null),l=()=>{t.refresh(),s(),i(null)},u=t.data?.job;return T(()=>{u&&!u.over&&a===null&&i(u.revision)},[u?.over,a]),Ae(a!==null?ie`/v1/jobs/${e}:follow`:null,{after_revision:a},{message(d){d.job&&t.set(()=>({job:d.job})),s()},end:l}),t.error?.code==="NOT_FOUND"?r`<${X}>${e}<//><${R} title="There is no job of this id.">It may have been deleted, or kept for its time. <a href="/jobs">All jobs</a><//>`:u?r`<${X} aside=${r`<${Ns} job=${u} onChange=${l} />`}>${e}<//>
    <div class="stack">
      <section class="panel stack">
        <p class="row"><span class="tag tone-${xn(u)}">${Tn(u)}</span><span>${Sn(u)}</span></p>
        <${Cn} job=${u} />
        ${u.cancel_text&&r`<p class="note">Cancelled ${u.cancel_text}</p>`}
        <${Ie} of=${[["Semaphore",r`<a href=${`/s/${encodeURIComponent(u.spec.semaphore)}`}>${u.spec.semaphore}</a>`],["Submitted",`${M(u.submitted_at)}${u.spec.author?` by ${u.spec.author}`:""}`],["Ended",u.ended_at&&`${M(u.ended_at)}, after ${Y(Date.parse(u.ended_at)-Date.parse(u.submitted_at))}`],["Priority",u.spec.priority],["Attempts of a task",u.spec.max_attempts],["Timeout",tt(u.spec.timeout)],["Kept after its end",tt(u.spec.retention)],["Stored",Te(u.bytes)],["Labels",Object.entries(u.spec.labels??{}).map(([d,c])=>`${d}=${c}`).join(", ")]]} />
      </section>
      <${Ps} id=${e} round=${n} />
    </div>`:r`<${X}>${e}<//>${t.error&&!t.error.offline?r`<${U} error=${t.error} retry=${t.refresh} />`:r`<${ge} what="Reading the job" />`}`}function or(){ne("Log in");let[e]=F(),[t,n]=g(""),[o,s]=g(null),[a,i]=g(!1),l=e.get("next")??"/";return r`<div class="login">
    <img src="/assets/icon.svg" alt="" width="48" height="48" />
    <${X}>Log in to Gatekeeper<//>
    <form onSubmit=${async d=>{d.preventDefault(),i(!0);try{await yo(t.trim()),he(/^\/(?![/\\])/.test(l)?l:"/",{replace:!0})}catch(c){s(c),i(!1)}}}>
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
      ${o&&r`<${U} error=${o.status===401?{message:"The servers do not know this token. It may have ended, or been revoked."}:o} />`}
      <p class="row end"><button class="primary" disabled=${a||!t.trim()}>${a?"Asking …":"Log in"}</button></p>
    </form>
  </div>`}function rr({change:e,effects:t,onEnd:n}){let o=me(()=>t.flatMap(f=>f.stopped??[]),[t]),s=me(()=>Date.now(),[e]),[a,i]=g({});Me();let l=o.filter(f=>!a[f.permit.token]),u=[...new Set(l.map(f=>f.permit.semaphore))],d=me(()=>u.length<=40?u:[],[e]),c=f=>f.length&&i(v=>({...Object.fromEntries(f),...v})),h=async()=>{let{items:f}=await Ee("/v1/holders",{names:d},"permits",void 0,1e5),v=new Map(f.map($=>[$.token,$]));c(o.filter($=>!v.has($.permit.token)).map($=>[$.permit.token,{how:"gone",after:Date.now()-s}]))};if(Ae(o.length?"/v1/watch":null,{names:d,permits:!0,from_revision:String(BigInt(e)+1n)},{message({events:f=[]}){let v=new Set(o.map($=>$.permit.token));c(f.filter($=>$.permit&&v.has($.permit.token)&&$.ended).map($=>[$.permit.token,{how:A($.ended,"PERMIT_END_"),after:Date.now()-s}]))},missed:()=>h().catch(()=>{})}),T(()=>{o.length&&l.length===0&&n?.()},[l.length]),o.length===0)return r`<p class="lead">No holder had to stop.</p>`;let m=l.filter(f=>Date.now()-s>N(f.free_within)),p=o.length-l.length;return r`<section class="follow" aria-label="Holders that stop">
    <p class="lead" role="status">
      ${l.length===0?`${D(o.length,"holder has","holders have")} stopped.`:`${b(p)} of ${D(o.length,"holder has","holders have")} stopped.`}
      ${m.length>0&&r` <strong>${D(m.length,"holder","holders")} did not stop in time.</strong>`}
    </p>
    <${we} share=${p/o.length} tone=${m.length?"stop":"run"} label=${`${p} of ${o.length} stopped`} />
    <${z}
      caption="Holders that must stop"
      rows=${[...m,...l.filter(f=>!m.includes(f)),...o.filter(f=>a[f.permit.token])].slice(0,600)}
      rowKey=${f=>f.permit.token}
      columns=${[["Semaphore",f=>r`<a href=${`/s/${encodeURIComponent(f.permit.semaphore)}`}>${f.permit.semaphore}</a>`,"name"],["Holder",f=>L(f.permit.identity),"name"],["Token",f=>f.permit.token,"num"],["Now",f=>{let v=a[f.permit.token];if(v)return r`<span class="tone-run">${v.how} after ${Y(v.after)}</span>`;let $=s+N(f.free_within)-Date.now();return $>0?r`<span class="tone-wait">stops within <span class="num">${at($)}</span></span>`:r`<span class="tone-deny">did not stop in time</span>`}]]}
    />
  </section>`}function ze({lasts:e,until:t}){return e?.trim()?{lasts:Oe(e)}:t?{until:new Date(t).toISOString()}:{}}var Ne=e=>e?.trim()?{drain:Oe(e)}:{};function Ve(e){try{return e(),""}catch(t){return t.message}}function ot({value:e,set:t,without:n="It stays until somebody ends it."}){return r`<${P}
      label="For"
      placeholder="2h"
      value=${e.lasts??""}
      onInput=${o=>t({...e,lasts:o,until:""})}
      error=${Ve(()=>Oe(e.lasts??""))}
      help=${`As 30m or 2h. ${n}`}
    />
    <${P} label="Or until" type="datetime-local" value=${e.until??""} onInput=${o=>t({...e,until:o,lasts:""})} />`}function Je({value:e,set:t}){return r`<${P}
    label="Drain"
    placeholder="2m"
    value=${e.drain??""}
    onInput=${n=>t({...e,drain:n})}
    error=${Ve(()=>Oe(e.drain??""))}
    help="How long holders that must stop may continue. Empty: their next refresh is refused."
  />`}var ct=100,sr=(e,t)=>{let n=[];for(let o=Math.floor(e/ct);o<=Math.floor(Math.max(e,t-1)/ct);o++)n.push(o);return n};function ar(e){let t=JSON.stringify(e),n=K(je),[,o]=g(0),s=()=>o(m=>m+1),a=me(()=>({pages:new Map,asked:new Map,total:void 0,window:[0,1],round:0}),[t]),i=J(0),l=J(a);l.current=a;let u=(m,p)=>{if(!p&&(a.pages.has(m)||a.asked.has(m)))return;a.asked.get(m)?.abort();let f=new AbortController;a.asked.set(m,f);let v=performance.now();S("/v1/definitions",{...e,page_size:ct,skip:m*ct},f.signal).then($=>{l.current===a&&(a.asked.delete(m),a.error=void 0,i.current=performance.now()-v,a.pages.set(m,$.records??[]),a.round++,a.total=$.total??($.records??[]).length,s())},$=>{f.signal.aborted||l.current!==a||(a.asked.delete(m),a.error=$,s())})},d=(m,p)=>{a.window=[m,p];let f=sr(m,p);for(let[v,$]of a.asked)f.includes(v)||($.abort(),a.asked.delete(v));for(let v of f)u(v)},c=()=>{let m=sr(...a.window);for(let p of a.pages.keys())m.includes(p)||a.pages.delete(p);for(let p of m)u(p,!0)},h=J(c);return h.current=c,T(()=>(u(0),()=>a.asked.forEach(m=>m.abort())),[t]),T(()=>{n&&h.current()},[n]),T(()=>{let m=setInterval(()=>document.hidden||h.current(),_t(i.current));return()=>clearInterval(m)},[t,a.round]),{at:m=>a.pages.get(Math.floor(m/ct))?.[m%ct],total:a.total,error:a.error,want:d,refresh:c,update(m){let p=new Map(m.map(f=>[f.definition.name,f]));for(let f of a.pages.values())f.forEach((v,$)=>{let w=p.get(v.definition.name);w&&(f[$]=w)});s()}}}var ir=8,Gt=4;function lr({total:e,height:t,row:n,range:o,open:s,label:a,head:i,columns:l}){let u=J(null),[d,c]=g([0,30]),[h,m]=g(0),p=J(!1);ft(()=>{let k=0,Q=()=>{k=0;let le=u.current?.getBoundingClientRect();if(!le)return;let G=Math.max(0,Math.floor(-le.top/t/Gt)*Gt-ir),V=Math.min(e,Math.ceil((innerHeight-le.top)/t/Gt)*Gt+ir);c(re=>re[0]===G&&re[1]===V?re:[G,Math.max(G,V)])},se=()=>k||=requestAnimationFrame(Q);Q(),addEventListener("scroll",se,{passive:!0}),addEventListener("resize",se);let oe=new ResizeObserver(se);return oe.observe(document.body),()=>{cancelAnimationFrame(k),removeEventListener("scroll",se),removeEventListener("resize",se),oe.disconnect()}},[e,t]),T(()=>{o?.(d[0],d[1])},[d[0],d[1],e]),ft(()=>{if(!p.current)return;let k=u.current?.querySelector(`[data-row="${h}"]`);k&&(p.current=!1,k.focus({preventScroll:!0}),k.scrollIntoView({block:"nearest"}))});let f=Math.min(h,Math.max(0,e-1)),v=k=>{if(e===0)return;p.current=!0,m(Math.max(0,Math.min(e-1,k)));let Q=u.current.getBoundingClientRect().top+scrollY+k*t;(Q<scrollY||Q>scrollY+innerHeight)&&scrollTo(0,Math.max(0,Q-innerHeight/2))},$=Math.max(1,Math.floor(innerHeight/t)-4),w={ArrowDown:()=>v(f+1),ArrowUp:()=>v(f-1),PageDown:()=>v(f+$),PageUp:()=>v(f-$),Home:()=>v(0),End:()=>v(e-1),Enter:()=>s?.(f)},y=k=>{!w[k.key]||k.ctrlKey||k.metaKey||k.altKey||k.key==="Enter"&&k.target.tagName==="A"||(k.preventDefault(),w[k.key]())},O=k=>{let Q=k.target.closest("[data-row]");Q&&m(Number(Q.dataset.row))};T(()=>{let k=()=>v(f);return addEventListener("enter-list",k),()=>removeEventListener("enter-list",k)});let I=[];for(let k=d[0];k<Math.min(d[1],e);k++)I.push(k);return e>0&&(f<d[0]||f>=d[1])&&I.push(f),r`<div class="grid" role="grid" aria-label=${a} aria-rowcount=${e+1} aria-colcount=${l} onKeyDown=${y} onFocusIn=${O}>
    <div class="grid-head" role="row" aria-rowindex="1">${i}</div>
    <div class="grid-body" role="rowgroup" ref=${u} style=${{height:`${e*t}px`}}>
      ${I.map(k=>r`<div
          key=${k}
          class="grid-row"
          role="row"
          aria-rowindex=${k+2}
          data-row=${k}
          tabindex=${k===f?0:-1}
          style=${{transform:`translateY(${k*t}px)`,height:`${t}px`}}
        >${n(k)}</div>`)}
    </div>
  </div>`}function Nn(e){return{search:e.get("q")??"",group:e.get("group")??"",labels:e.get("labels")??"",states:e.getAll("state").map(t=>`DEFINITION_STATE_${t.toUpperCase()}`)}}var On=e=>e.value.slice(17).toLowerCase();function Fs({counts:e,total:t}){let[n,o]=F(),s=n.getAll("state"),a=i=>o({state:s.includes(i)?s.filter(l=>l!==i):[...s,i]});return r`<div class="states" role="group" aria-label="Filter by state">
    <button type="button" class="stat" aria-pressed=${s.length===0} onClick=${()=>o({state:""})}>
      <span class="stat-n num">${t===void 0?"–":b(t)}</span><span class="stat-w">all</span>
    </button>
    ${Ht.map(i=>{let l=e?.get(i.value);return r`<button
        type="button"
        key=${i.value}
        class="stat ${e&&!l?"zero":""} tone-${i.tone}"
        aria-pressed=${s.includes(On(i))}
        title=${i.help}
        onClick=${()=>a(On(i))}
      >
        <span class="stat-n num">${e?b(l):"–"}</span><span class="stat-w"><${kt} value=${i.value} text=${On(i)} /></span>
      </button>`})}
  </div>`}var js=e=>/[,=!()"]/.test(e)?`"${e.replaceAll('"','\\"')}"`:e;function qs({labels:e}){let[t,n]=F(),o=t.get("labels")??"",[s,a]=Se(o,c=>n({labels:c}),400),[i,l]=g(""),u=e?.find(c=>c.key===i)?.values??[],d=c=>{c&&(n({labels:[o,c==="*"?i:`${i}=${js(c)}`].filter(Boolean).join(",")}),l(""))};return r`<div class="field">
      <label for="labels">Labels</label>
      <input id="labels" value=${s} placeholder="team=data,tier!=test" onInput=${c=>a(c.target.value)} autocomplete="off" spellcheck=${!1} />
    </div>
    ${e?.length>0&&r`<${Re} label="Add a label" value=${i} onChange=${l} options=${[["","Label …"],...e.map(c=>[c.key,c.key])]} />
      ${i&&r`<${Re} label="Value" value="" onChange=${d} options=${[["","Value …"],["*","any value"],...u.map(c=>[c.value,`${c.value} (${b(c.count)})`])]} />`}`}`}function Us({summary:e,shown:t}){let[n,o]=F(),[s,a]=Se(n.get("q")??"",p=>o({q:p})),[i,l]=Se(n.get("group")??"",p=>o({group:p}),400),u=["q","group","labels","state"].filter(p=>n.get(p)),d=x(p=>Ee("/v1/known",{},"callers",p),["known"]),c=[...new Set((d.data?.items??[]).map(p=>p.group))].sort(),h=Ut("(min-width: 60rem)");return r`<form class="filters" role="search" onSubmit=${p=>p.preventDefault()}>
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
        <${qs} labels=${e?.labels} />
      </div>
    </details>
    <p class="row filters-end">
      <span class="num" role="status">${t}</span>
      ${u.length>0&&r`<button type="button" onClick=${()=>o({q:"",group:"",labels:"",state:""})}>Clear filters</button>`}
      <a class="button" href=${`/move?${new URLSearchParams([...n,["from_filter","1"]])}`}>Move or pause</a>
    </p>
  </form>`}var An=["State","Semaphore","In use","Holder","Time left","Queue","Lets in group"],In=class extends rt{shouldComponentUpdate(t){let{record:n,permits:o,live:s}=this.props;return t.record!==n||t.permits!==o||t.live?.waiters!==s?.waiters}render({record:t,permits:n,live:o}){return r`<${Hs} record=${t} permits=${n} live=${o} />`}};function Hs({record:e,permits:t,live:n}){if(!e)return r`<span class="row-loading" role="gridcell" aria-colspan=${An.length}>Reading …</span>`;let o=e.definition,s=t?.[0],a=(e.holders??0)-1,i=Wt(e)[0],l=`/s/${encodeURIComponent(o.name)}`,u=Number(e.used??0),d=o.permits??0,c=n?.waiters??e.waiters??0;return r`
    <span class="c-state" role="gridcell"><${Qo} record=${e} /></span>
    <span class="c-name" role="rowheader">
      <a href=${l} tabindex="-1">${o.name}</a>
      <span class="sub">${i??o.description??""}</span>
    </span>
    <span class="c-used num" role="gridcell">
      <${we} share=${d?u/d:u?1:0} tone=${u>d?"deny":"accent"} label="${u} of ${d} permits in use" />
      <span>${b(u)}<span class="faint"> / ${b(d)}</span></span>
    </span>
    <span class="c-holder" role="gridcell">
      ${s?r`<span class="clip">${L(s.identity)}</span><span class="sub">for <${pe} at=${s.granted_at} />${a>0&&` and ${b(a)} more`}</span>`:a>=0?r`<span class="sub">${D(a+1,"holder","holders")}</span>`:r`<span class="faint">–</span>`}
    </span>
    <span class="c-left" role="gridcell">${s?r`<${Bt} at=${s.deadline} of=${N(s.duration)} />`:r`<span class="faint">–</span>`}</span>
    <span class="c-queue num" role="gridcell">${c?r`<span class="tag tone-wait">${b(c)}</span>`:r`<span class="faint">0</span>`}</span>
    <span class="c-group" role="gridcell"><code class="clip">${o.group_pattern}</code></span>`}var Ws=6e3;function cr(){ne("Overview");let[e]=F(),t=Nn(e),n=ar(t),o=Ut("(max-width: 47.99rem)"),s=Ut("(max-width: 63.99rem)"),a=o?104:s?76:52,{search:i,group:l,labels:u}=t,[d,c]=g(1e4),h=x(async E=>{let W=performance.now(),te=await S("/v1/definitions:summarize",{search:i,group:l,labels:u},E);return c(_t(performance.now()-W)),te},["summary",i,l,u],{every:d,keep:!0}),m=me(()=>h.data&&new Map((h.data.states??[]).map(E=>[E.state,E.count])),[h.data]),[p,f]=g(new Map),[v,$]=g(new Map),[w,y]=g([]),O=J(new Set),[I,k]=g(5e3),Q=J([0,0]),se=Le(()=>{let[E,W]=Q.current,te=[],ke=0;for(let be=E;be<W&&ke<Ws;be++){let ce=n.at(be)?.definition.name;ce&&(te.push(ce),ke+=ce.length+8)}y(be=>be.join(`
`)===te.join(`
`)?be:te)},150),oe=(E,W)=>{Q.current=[E,W],n.want(E,W),se()};T(se);let le=async(E,W)=>{let te=Date.now(),{items:ke}=await Ee("/v1/holders",{names:E},"permits",W),be=new Map(E.map(ce=>[ce,[]]));for(let ce of ke)be.get(ce.semaphore)?.push({...ce,deadline:ce.expires_in?te+N(ce.expires_in):0});f(ce=>new Map([...ce,...be]))},G=Le(async()=>{let E=[...O.current];if(O.current.clear(),E.length===0)return;let W=performance.now(),[te]=await Promise.all([S("/v1/definitions",{names:E,page_size:1e3}),le(E)]).catch(()=>[]);if(!te)return;n.update(te.records??[]);let ke=performance.now()-W;k(ke<20?5e3:_t(ke))},40);T(()=>{if(w.length===0)return;let E=new AbortController;return le(w,E.signal).catch(()=>{}),()=>E.abort()},[w]);let V=()=>{w.forEach(E=>O.current.add(E)),G()};T(()=>{let E=setInterval(()=>document.hidden||V(),I);return()=>clearInterval(E)},[w,I]),Ae(w.length?"/v1/watch":null,{names:w,permits:!0,live_every:"1s"},{open:E=>E&&V(),missed:V,message({events:E=[]}){for(let W of E)W.semaphore&&O.current.add(W.semaphore);G()},live(E){let W=(E.live??E).semaphores??[],te=Date.now();$(new Map(W.map(ke=>[ke.semaphore,ke]))),f(ke=>{let be=new Map(ke);for(let ce of W){let qn=new Map((ce.deadlines??[]).map(Ge=>[Ge.token,te+N(Ge.expires_in)])),Un=be.get(ce.semaphore);Un&&be.set(ce.semaphore,Un.map(Ge=>qn.has(Ge.token)?{...Ge,deadline:qn.get(Ge.token)}:Ge))}return be})}});let re=E=>{let W=n.at(E);W&&he(`/s/${encodeURIComponent(W.definition.name)}`)},_=n.total,ae=_===void 0?"…":D(_,"semaphore","semaphores"),j=me(()=>r`<${X} aside=${r`<${Bs} />`}>Overview<//>
      <${Ke} />
      <${Fs} counts=${m} total=${h.data&&(h.data.total??0)} />
      <${Us} summary=${h.data} shown=${ae} />`,[m,h.data,ae]);return r`${j}
    ${n.error&&!n.error.offline&&r`<${U} error=${n.error} retry=${n.refresh} />`}
    ${_===void 0?!n.error&&r`<${ge} what="Reading the semaphores" />`:_===0?r`<${Ks} filtered=${[...e].length>0} />`:r`<${lr}
            label="Semaphores"
            total=${_}
            height=${a}
            columns=${An.length}
            range=${oe}
            open=${re}
            head=${An.map(E=>r`<span role="columnheader">${E}</span>`)}
            row=${E=>{let W=n.at(E),te=W?.definition.name;return r`<${In} record=${W} permits=${p.get(te)} live=${v.get(te)} />`}}
          />`}`}function Bs(){let[e,t]=g(!1),[n,o]=g("");return r`<${q} role="ROLE_EDITOR" onClick=${()=>t(!0)}>New semaphore …<//>
    ${e&&r`<${de} title="New semaphore" onClose=${()=>t(!1)}>
      <form onSubmit=${a=>{a.preventDefault(),n.trim()&&he(`/s/${encodeURIComponent(n.trim())}?tab=rule`)}}>
        <${P} label="Name" value=${n} onInput=${o} maxlength="256" required help="As callers ask for it. It cannot be changed later." />
        <p class="row end"><button type="button" onClick=${()=>t(!1)}>Cancel</button><button class="primary">Write its rule …</button></p>
      </form>
    <//>`}`}function Ks({filtered:e}){return e?r`<${R} title="No semaphore matches.">Remove a filter to see more.<//>`:r`<${R} title="There are no semaphores yet.">Create the first one with <code>gkctl apply -f FILE</code>, or give gatekeeperd a file by <code>--definitions</code>.<//>`}var zs=[["move","Move"],["pause","Pause"],["resume","Resume"],["cordon","Cordon"]],ur=e=>e.split(/[\n,]/).map(t=>t.trim()).filter(Boolean);function dr(){let[e,t]=F(),[n,o]=g(e.getAll("names").join(`
`)),[s,a]=g(e.get("labels")??""),[i,l]=g(e.get("all")==="1"),[u,d]=g(null),c=Nn(e),h=e.get("from_filter")==="1"&&(c.search||c.group||c.states.length>0);T(()=>{h&&Ee("/v1/definitions",c,"records",void 0,1e3).then(({items:p,more:f})=>{o(p.map(v=>v.definition.name).join(`
`)),a(""),t({q:"",group:"",state:"",labels:"",from_filter:""}),f&&d(new Error("More than 1,000 semaphores match. Only the first 1,000 are listed here; choose by a label or a glob instead."))},d)},[]);let m=i?{all:!0}:{...ur(n).length&&{names:ur(n)},...s.trim()&&{labels:s.trim()}};return{names:n,setNames:o,labels:s,setLabels:a,everything:i,setEverything:l,selector:m,error:u,given:i||n.trim()!==""||s.trim()!==""}}function mr({of:e,optional:t}){let n=x(e.given?a=>S("/v1/definitions",{names:e.selector.names,labels:e.selector.labels,page_size:4},a):null,["chosen",e.selector],{keep:!0}),o=n.data?.records??[],s=n.data?.total??0;return r`<fieldset class="panel stack">
    <legend>Which semaphores</legend>
    <div class="form">
      <${P} label="Names" area=${4} value=${e.names} onInput=${e.setNames} disabled=${e.everything} placeholder="nightly-*" help="One name or glob per line." class="full" data-search />
      <${P} label="Labels" value=${e.labels} onInput=${e.setLabels} disabled=${e.everything} placeholder="team=data,tier!=test" help="Names and labels must both match." />
      <${ue} label="Every semaphore" checked=${e.everything} onChange=${e.setEverything} />
    </div>
    ${e.error&&r`<${U} error=${e.error} />`}
    ${n.error&&!n.error.offline&&r`<${U} error=${n.error} />`}
    <p role="status" class="faint">
      ${e.given?n.data?`${D(s,"semaphore","semaphores")} chosen${o.length?`: ${Ue(o.map(a=>a.definition.name),4)}${s>4?" …":""}`:""}`:"Reading …":t??"Choose some, or every one."}
    </p>
  </fieldset>`}function Mn({of:e,onAgain:t}){return r`<section class="panel stack" aria-label="What was done">
    <h2>${e.text}</h2>
    <${rr} key=${e.change} change=${e.change} effects=${e.effects} />
    <p class="row">
      <a class="button" href=${`/activity?change=${e.change}`}>Change ${e.change}</a>
      <${q} role=${e.role} onClick=${()=>nt(e.change)}>Undo …<//>
      <button type="button" onClick=${t}>Another one</button>
    </p>
  </section>`}function Ln(){let[e,t]=g(null);return[e,(o,s)=>(a,i)=>{let l=a.change??a.revision??a.cordon?.revision;l&&l!=="0"&&t({text:o,role:s,change:l,effects:a.effects?.length?a.effects:i.effects??[]})},()=>t(null)]}function fr({id:e}){let t=x(o=>Ee("/v1/known",{},"callers",o,5e3),["known"]),n=[...new Set((t.data?.items??[]).map(o=>o.group))].sort();return r`<datalist id=${e}>${n.map(o=>r`<option value=${o} />`)}</datalist>`}function Vs({of:e}){let t=(e.not_moved??[]).filter(o=>o.problem),n=(e.not_moved??[]).length-t.length;return r`
    <p class="lead">${e.moves?.length?`${D(e.moves.length,"semaphore moves","semaphores move")}.`:e.mistake?"":"There is nothing to move."}${n>0&&r`<span class="faint"> ${b(n)} need no move.</span>`}</p>
    ${e.mistake&&r`<p class="note">${e.mistake}</p>`}
    ${e.doubts?.length>0&&r`<div class="failure" role="alert"><p class="failure-text">This move is likely a mistake.</p><ul>${e.doubts.map(o=>r`<li>${o}</li>`)}</ul></div>`}
    ${t.length>0&&r`<div class="warnings"><p>${D(t.length,"semaphore has","semaphores have")} to be moved by hand:</p>
      <ul>${t.slice(0,20).map(o=>r`<li><a href=${`/s/${encodeURIComponent(o.semaphore)}?tab=rule`}>${o.semaphore}</a>: ${o.why}</li>`)}</ul></div>`}`}function Js(){let e=dr(),[t]=F(),[n,o]=g({from:t.get("from")??"",to:t.get("to")??"",drain:""}),[s,a]=g(!1),[i,l,u]=Ln(),d=()=>({selector:e.given?e.selector:{all:!0},from_group:n.from.trim(),to_group:n.to.trim(),...Ne(n.drain),...$e()}),c=!n.from.trim()||!n.to.trim()?"Say from which group to which.":Ve(()=>Ne(n.drain));return i?r`<${Mn} of=${i} onAgain=${u} />`:r`<form class="stack" onSubmit=${h=>(h.preventDefault(),c||a(!0))}>
    <fieldset class="panel">
      <legend>From where to where</legend>
      <div class="form">
        <${P} label="From group" value=${n.from} onInput=${h=>o({...n,from:h})} list="move-groups" required />
        <${P} label="To group" value=${n.to} onInput=${h=>o({...n,to:h})} list="move-groups" required />
        <${Je} value=${n} set=${o} />
        <${fr} id="move-groups" />
      </div>
    </fieldset>
    <${mr} of=${e} optional="Every semaphore that admits the old group, and not the new one. Choose fewer by names or labels." />
    <p class="row end"><${q} role="ROLE_OPERATOR" type="submit" kind="primary" why=${c}>Preview the move …<//></p>
    ${s&&r`<${ve}
      title=${`Move from ${n.from} to ${n.to}`}
      verb=${h=>`Move ${D(h.moves?.length??0,"semaphore","semaphores")}`}
      role="ROLE_OPERATOR"
      preview=${async h=>C("/v1/move",{...d(),dry_run:!0},h)}
      extra=${h=>r`<${Vs} of=${h} />`}
      nothing=${h=>h.moves?.length?"":h.mistake||"There is nothing to move."}
      run=${async(h,m)=>C("/v1/move",{...d(),expected:m.digest,...h})}
      done=${h=>`${D(h.moves?.length??0,"semaphore","semaphores")} moved from ${n.from} to ${n.to}.`}
      onDone=${l(`Moved from ${n.from} to ${n.to}`,"ROLE_OPERATOR")}
      onClose=${()=>a(!1)}
    />`}
  </form>`}function pr({resume:e}){let t=dr(),[n,o]=g({lasts:"",until:"",stop:!1,drain:"",keep:!0}),[s,a]=g(!1),[i,l,u]=Ln(),d=()=>e?{selector:t.selector}:{selector:t.selector,...ze(n),...n.keep&&{keep_paused:!0},...n.stop&&{stop:!0,...Ne(n.drain)}},c=t.given?Ve(()=>(ze(n),Ne(n.drain))):"Choose some semaphores first.";if(i)return r`<${Mn} of=${i} onAgain=${u} />`;let h=e?"resume":"pause";return r`<form class="stack" onSubmit=${m=>(m.preventDefault(),c||a(!0))}>
    <${mr} of=${t} />
    ${!e&&r`<fieldset class="panel">
      <legend>How long, and what becomes of running work</legend>
      <div class="form">
        <${ot} value=${n} set=${o} without="Empty: until it is resumed." />
        <${ue} label="Stop holders too" checked=${n.stop} onChange=${m=>o({...n,stop:m})} help="Otherwise running work continues to its end." />
        ${n.stop&&r`<${Je} value=${n} set=${o} />`}
        <${ue} label="Leave paused ones as they are" checked=${n.keep} onChange=${m=>o({...n,keep:m})} help="Otherwise this pause replaces theirs, also when it ends." />
      </div>
    </fieldset>`}
    <p class="row end"><${q} role="ROLE_OPERATOR" type="submit" kind="primary" why=${c}>${e?"Preview …":"Preview the pause …"}<//></p>
    ${s&&r`<${ve}
      title=${e?"Resume":"Pause"}
      verb=${e?"Resume":"Pause"}
      role="ROLE_OPERATOR"
      preview=${async m=>C("/v1/preview",{[h]:d()},m)}
      run=${async(m,p)=>C(`/v1/${h}`,{...d(),expected:p.digest,...m})}
      done=${m=>`${D(m.names?.length??0,"semaphore","semaphores")} ${h}d.`}
      onDone=${(m,p)=>l(`${D(m.names?.length??0,"semaphore","semaphores")} ${h}d`,"ROLE_OPERATOR")(m,p)}
      onClose=${()=>a(!1)}
    />`}
  </form>`}function Gs(){let[e]=F(),[t,n]=g({group:e.get("group")??"",acquirer:e.get("acquirer")??"",lasts:"",until:"",drain:""}),[o,s]=g(!1),[a,i,l]=Ln(),u=()=>({...t.group.trim()&&{group_pattern:t.group.trim()},...t.acquirer.trim()&&{acquirer_pattern:t.acquirer.trim()},...ze(t),...Ne(t.drain)}),d=!t.group.trim()&&!t.acquirer.trim()?"Say whom to shut out.":Ve(()=>u());return a?r`<${Mn} of=${a} onAgain=${l} />`:r`<form class="stack" onSubmit=${c=>(c.preventDefault(),d||s(!0))}>
    <p>A cordon shuts a group or a host out of every semaphore, for example while it is patched.</p>
    <fieldset class="panel">
      <legend>Whom, and for how long</legend>
      <div class="form">
        <${P} label="Group pattern" value=${t.group} onInput=${c=>n({...t,group:c})} list="cordon-groups" help="A caller is caught when either pattern matches." />
        <${P} label="Acquirer pattern" value=${t.acquirer} onInput=${c=>n({...t,acquirer:c})} placeholder="host-3" />
        <${ot} value=${t} set=${n} without="Empty: until it is ended." />
        <${Je} value=${t} set=${n} />
        <${fr} id="cordon-groups" />
      </div>
    </fieldset>
    <p class="row end"><${q} role="ROLE_OPERATOR" type="submit" kind="primary" why=${d}>Preview the cordon …<//></p>
    ${o&&r`<${ve}
      title="Cordon"
      verb="Cordon"
      role="ROLE_OPERATOR"
      preview=${async c=>C("/v1/preview",{cordon:u()},c)}
      run=${async c=>C("/v1/cordon",{...u(),...c})}
      done=${c=>`Cordon ${c.cordon?.id} is in force.`}
      onDone=${(c,h)=>i(`Cordon ${c.cordon?.id} is in force`,"ROLE_OPERATOR")(c,h)}
      onClose=${()=>s(!1)}
    />`}
  </form>`}function hr(){ne("Move and pause");let[e]=F(),t=e.get("do")??"move";return r`<${X}>Move and pause<//>
    <${Ke} />
    <${lt} of=${zs} query="do" label="What to do" />
    ${t==="pause"?r`<${pr} key="pause" />`:t==="resume"?r`<${pr} key="resume" resume />`:t==="cordon"?r`<${Gs} />`:t==="move"?r`<${Js} />`:r`<${R} title="There is no such form." />`}`}var $r=e=>e.all?"every semaphore":e.labels?`semaphores with ${e.labels}`:Ue(e.names??[]),gr=e=>e.names?.length===1?e.names[0]:"";function _r({selector:e,onClose:t,onDone:n}){let[o,s]=g({lasts:"",until:"",stop:!1,drain:""}),a=()=>({selector:e,...ze(o),...o.stop?{stop:!0,...Ne(o.drain)}:{}});return r`<${ve}
    title=${`Pause ${$r(e)}`}
    verb="Pause"
    role="ROLE_OPERATOR"
    semaphore=${gr(e)}
    deps=${o}
    preview=${async i=>C("/v1/preview",{pause:a()},i)}
    run=${async(i,l)=>C("/v1/pause",{...a(),expected:l.digest,...i})}
    done=${i=>`${D(i.names?.length??0,"semaphore","semaphores")} paused.`}
    onClose=${t}
    onDone=${n}
  >
    <p>Nobody gets a permit until the pause ends. The queue keeps its places.</p>
    <div class="form">
      <${ot} value=${o} set=${s} without="Empty: until it is resumed." />
      <${ue} label="Stop holders too" checked=${o.stop} onChange=${i=>s({...o,stop:i})} help="Otherwise running work continues to its end." />
      ${o.stop&&r`<${Je} value=${o} set=${s} />`}
    </div>
  <//>`}function vr({selector:e,onClose:t,onDone:n}){return r`<${ve}
    title=${`Resume ${$r(e)}`}
    verb="Resume"
    role="ROLE_OPERATOR"
    semaphore=${gr(e)}
    preview=${async o=>C("/v1/preview",{resume:{selector:e}},o)}
    run=${async(o,s)=>C("/v1/resume",{selector:e,expected:s.digest,...o})}
    done=${o=>o.names?.length?`${D(o.names.length,"semaphore","semaphores")} resumed.`:"Nothing was paused."}
    onClose=${t}
    onDone=${n}
  />`}function br({name:e}){let[t,n]=F(),o={group:t.get("group")??"",acquirer:t.get("acquirer")??"",weight:t.get("weight")??"",worker:t.get("worker")??""},[s,a]=g(o),l=x(m=>S("/v1/known",{page_size:1e3},m),["known"]).data?.callers??[],u={identity:{group:o.group,acquirer:o.acquirer},...o.weight&&{weight:Number(o.weight)},...o.worker&&{worker:!0}},d=x(o.acquirer?m=>C(ie`/v1/semaphores/${e}:explain`,u,m):null,["explain",e,o],{keep:!0,every:5e3}),c=m=>{m.preventDefault(),n(s),d.refresh()},h=m=>p=>a({...s,[m]:p});return r`<section class="panel">
    <h2>Would this caller get a permit?</h2>
    <form class="form" onSubmit=${c}>
      <${P} label="Group" value=${s.group} onInput=${h("group")} list="known-groups" placeholder="default" help="Where the caller runs: a zone, a site." />
      <${P} label="Acquirer" value=${s.acquirer} onInput=${h("acquirer")} list="known-acquirers" required help="Who asks, normally a host." />
      <${P} label="Weight" type="number" min="1" value=${s.weight} onInput=${h("weight")} placeholder="1" />
      <${ue} label="It is a worker" checked=${s.worker==="1"} onChange=${m=>h("worker")(m?"1":"")} help="It asks for a task." />
      <datalist id="known-groups">${[...new Set(l.map(m=>m.group))].map(m=>r`<option value=${m} />`)}</datalist>
      <datalist id="known-acquirers">${[...new Set(l.map(m=>m.acquirer))].map(m=>r`<option value=${m} />`)}</datalist>
      <p class="row full"><button class="primary">Explain</button></p>
    </form>
    ${d.error&&!d.error.offline&&r`<${U} error=${d.error} />`}
    ${o.acquirer&&!d.data&&!d.error&&r`<${ge} what="Asking" />`}
    ${d.data&&r`<${Qs} of=${d.data} />`}
  </section>`}function Qs({of:e}){let t=!e.reason||e.reason==="REASON_UNSPECIFIED";return r`<div class="stack" role="status">
    <p class="lead tone-${t?"run":"deny"}"><strong>${t?"It would get a permit.":`Denied: ${A(e.reason,"REASON_")}.`}</strong> ${e.summary}</p>
    ${e.recovering&&r`<p class="note">Nothing is granted for another ${Math.ceil(N(e.recovering)/1e3)} s: a recovery of the cluster is being waited out.</p>`}
    <ol class="steps">
      ${(e.steps??[]).map(n=>r`<li key=${n.number}>
        <span class="step-mark tone-${n.passed?"run":"deny"}"><span aria-hidden="true">${n.passed?"✓":"✗"}</span><span class="sr-only">${n.passed?"passed":"failed"}</span></span>
        <span class="step-name">${n.number} ${n.name}</span><span>${n.text}</span>
      </li>`)}
    </ol>
    ${e.holders?.length>0&&r`<p>Taken by ${e.holders.slice(0,5).map((n,o)=>r`${o?", ":""}${L(n.identity)} for <${pe} at=${n.granted_at} />`)}${(e.holder_count??0)>5&&` and ${b(e.holder_count-5)} more`}.</p>`}
    ${e.waiter_count>0&&r`<p>${D(e.waiter_count,"caller waits","callers wait")} in the queue.</p>`}
    ${e.why_tasks_wait&&r`<p>${e.why_tasks_wait}</p>`}
  </div>`}var Ys={claimed:"accent",done:"run",spent:"stop",failed:"deny","cut short":"stop",open:"wait",forgotten:"idle"};async function Xs(e,t){let n="",o,s=[];do o=await S("/v1/firings",{semaphore:e,page_size:1e3,page_token:n},t),s.push(...o.firings??[]),n=o.next_page_token??"";while(n&&s.length<2e4);return{...o,firings:s.reverse()}}function yr({name:e,events:t}){let n=x(u=>Xs(e,u),["firings",e,t],{keep:!0}),[o,s]=g(null),[a,i]=g(100),l=o&&{semaphore:e,firings:[o.firing],...$e()};return r`<section class="panel">
    <h2>Firings</h2>
    <${H} of=${n} what="Reading the firings">
      ${u=>r`
        <p class="faint">${b(u.count)} remembered, at most ${b(u.limit)}.${u.forgotten_up_to&&` Those due until ${M(u.forgotten_up_to)} that are not listed count as forgotten.`}</p>
        <${z}
          caption="Firings"
          rows=${u.firings.slice(0,a)}
          rowKey=${d=>We(d.firing)}
          empty=${r`<${R} title="No firing is remembered.">A caller that names its firing, as gkctl run --firing does, is remembered here.<//>`}
          columns=${[["Firing",d=>We(d.firing),"name"],["State",d=>r`<span class="tag tone-${Ys[A(d.state,"FIRING_STATE_")]??"idle"}">${A(d.state,"FIRING_STATE_")}</span>`],["Who",d=>d.winner?L(d.winner):"–","name"],["Claimed at",d=>M(d.claimed_at)||"–","num"],["Attempts",d=>b(d.attempts),"num"],["Failure",d=>d.failure||"–"],["",d=>r`<${q} role="ROLE_OPERATOR" semaphore=${e} onClick=${()=>s(d)}>Forget …<//>`,"end"]]}
        />
        ${u.firings.length>a&&r`<button type="button" onClick=${()=>i(a*5)}>Show more</button>`}`}
    <//>
    ${o&&r`<${ve}
      title=${`Forget ${We(o.firing)}`}
      verb="Forget it"
      kind="danger"
      role="ROLE_OPERATOR"
      semaphore=${e}
      preview=${u=>C("/v1/firings:forget",{...l,dry_run:!0},u)}
      run=${(u,d)=>C("/v1/firings:forget",{...l,plan:d.plan,...u})}
      done=${()=>`${We(o.firing)} is forgotten.`}
      onDone=${n.refresh}
      onClose=${()=>s(null)}
    ><p>A forgotten firing can run again, even if its job has run.</p><//>`}
  </section>`}function wr({name:e,events:t,onChange:n}){let[o,s]=F(),a=o.get("permits")==="1",[i,l]=g(50),u=x(d=>S("/v1/history",{names:[e],permits:a,page_size:i},d),["history",e,a,i,t],{keep:!0});return r`<section class="panel">
    <div class="title"><h2>History</h2>
      <${ue} label="Also how permits ended" checked=${a} onChange=${d=>s({permits:d?"1":""})} />
    </div>
    <${H} of=${u} what="Reading the journal">
      ${d=>r`
        ${d.entries?.length?r`<${wt} entries=${d.entries} semaphore=${e} onChange=${n} />`:r`<${R} title="The journal has nothing of it." />`}
        ${d.next_page_token&&i<1e3&&r`<p class="row"><button type="button" onClick=${()=>l(Math.min(1e3,i*4))}>Show more</button></p>`}`}
    <//>
  </section>`}var Pn=[["1h",36e5],["6h",6*36e5],["24h",24*36e5],["7d",168*36e5]],Fn=4,kr=12,Zs={released:"run",expired:"stop",abandoned:"idle",cancelled:"idle",cleared:"stop","freed unsafely":"deny",superseded:"idle"};function Er({name:e,permits:t,events:n}){let[o,s]=F(),a=Pn.find(([u])=>u===o.get("span"))??Pn[0];Me();let i=Date.now()-a[1],l=x(u=>S("/v1/history",{names:[e],permits:!0,since:new Date(Date.now()-a[1]).toISOString(),page_size:1e3},u),["timeline",e,a[0],n],{keep:!0});return r`<section class="panel">
    <div class="title"><h2>Who held it when</h2>
      <div class="row" role="group" aria-label="Span of time">
        ${Pn.map(([u])=>r`<button type="button" key=${u} aria-pressed=${u===a[0]} onClick=${()=>s({span:u==="1h"?"":u})}>${u}</button>`)}
      </div>
    </div>
    <${H} of=${l} what="Reading the journal">
      ${u=>r`<${ea} entries=${u.entries??[]} permits=${t} from=${i} to=${Date.now()} more=${u.next_page_token} />`}
    <//>
  </section>`}function ea({entries:e,permits:t,from:n,to:o,more:s}){let a=[...t.map(c=>({who:L(c.identity),from:Date.parse(c.granted_at),to:o,how:"holds it now",tone:c.stop?"stop":"accent",token:c.token})),...e.filter(c=>c.permit&&c.kind!=="EVENT_KIND_GRANTED"&&c.permit.granted_at).map(c=>{let h=A(c.permit.ended,"PERMIT_END_")||A(c.kind,"EVENT_KIND_");return{who:L(c.permit.identity),from:Date.parse(c.permit.granted_at),to:Date.parse(c.permit.ended_at??c.at),how:h,tone:Zs[h]??"idle",token:c.permit.token}})],i=new Set,l=new Map;for(let c of a)i.has(c.token)||c.to<n||(i.add(c.token),l.set(c.who,[...l.get(c.who)??[],c]));if(l.size===0)return r`<${R} title="Nobody held it in this time." />`;let u=c=>1e3*(Math.max(c,n)-n)/(o-n),d=e.filter(c=>!c.permit&&Date.parse(c.at)>=n);return r`<div class="timeline">
    ${[...l].slice(0,kr).map(([c,h])=>{let m=h[0],p=`${c}: ${D(h.length,"permit","permits")}, the last from ${M(m.from)}, ${m.how}`;return r`<div class="lane" key=${c}>
        <span class="lane-name">${c}</span>
        <svg viewBox="0 0 1000 18" preserveAspectRatio="none" role="img" aria-label=${p}>
          <rect class="track" width="1000" height="18" />
          ${h.map(f=>r`<rect key=${f.token} class="fill-${f.tone}" x=${u(f.from)} y="2" height="14" width=${Math.max(1.5,u(f.to)-u(f.from))}>
            <title>${`${f.who}: ${M(f.from)}, ${f.how} after ${Y(f.to-f.from)}, token ${f.token}`}</title>
          </rect>`)}
          ${d.map(f=>r`<line key=${f.revision} class="mark" x1=${u(Date.parse(f.at))} x2=${u(Date.parse(f.at))} y1="0" y2="18"><title>${`${A(f.kind,"EVENT_KIND_")} by ${f.author??"–"} at ${M(f.at)}`}</title></line>`)}
        </svg>
      </div>`})}
    <div class="lane axis" aria-hidden="true">
      <span class="lane-name"></span>
      <span class="ticks num">${Array.from({length:Fn+1},(c,h)=>r`<span key=${h}>${h===Fn?"now":it(n+(o-n)*h/Fn).slice(0,-3)}</span>`)}</span>
    </div>
    ${(l.size>kr||s)&&r`<p class="faint">Not everything fits here. <a href="?tab=history&permits=1">The history has all of it.</a></p>`}
  </div>`}function ta({permit:e,onClose:t,onDone:n}){let[o,s]=g({reason:"",drain:"",unsafe:!1}),[a,i]=g(null),[l,u]=g(!1);return r`<${de} title="Revoke a permit" onClose=${t}>
    <form onSubmit=${async c=>{if(c.preventDefault(),!l){u(!0);try{let h={reason:o.reason,...$e()};o.drain.trim()&&(h.drain=Oe(o.drain)),o.unsafe&&(h.unsafe_now=!0),await C(ie`/v1/permits/${e.token}:revoke`,h),ye(`The permit of ${L(e.identity)} is revoked.`),n(),t()}catch(h){i(h),u(!1)}}}}>
      <p>${L(e.identity)} must stop. Its refreshes are refused from now on, and its slot is free when it releases, or at its deadline.</p>
      <${P} label="Reason" value=${o.reason} onInput=${c=>s({...o,reason:c})} maxlength="1024" />
      <${P} label="Drain" placeholder="2m" value=${o.drain} onInput=${c=>s({...o,drain:c})} error=${Ve(()=>Oe(o.drain))} help="How long it may continue. Empty: not at all." />
      <${ue} label="Free the slot at once" checked=${o.unsafe} onChange=${c=>s({...o,unsafe:c})}
        help="Unsafe: the holder may still run, and then two run at the same time. Only a fencing token protects what they write." />
      <${U} error=${a} />
      <p class="row end">
        <button type="button" onClick=${t}>Cancel</button>
        <button class=${o.unsafe?"danger":"primary"}>${l?"Working …":o.unsafe?"Revoke and free the slot":"Revoke"}</button>
      </p>
    </form>
  <//>`}function na({permit:e,onClose:t,onDone:n}){let[o,s]=g(""),[a,i]=g(null);return r`<${de} title="Clear a slot" onClose=${t}>
    <form onSubmit=${u=>{u.preventDefault(),C(ie`/v1/permits/${e.token}:clear`,{reason:o,...$e()}).then(()=>{ye("The slot is free."),n(),t()},i)}}>
      <p>The permit of ${L(e.identity)} expired, and its slot is held. Clear it when you know that its job does not run any more.</p>
      <${P} label="Reason" value=${o} onInput=${s} maxlength="1024" />
      <${U} error=${a} />
      <p class="row end"><button type="button" onClick=${t}>Cancel</button><button class="primary">Clear the slot</button></p>
    </form>
  <//>`}var oa=e=>Object.entries(e??{}).map(([t,n])=>`${t}=${n}`).join(", ");function ra({permits:e,onChange:t}){let[n,o]=g(null),s=()=>o(null);return r`<section class="panel">
    <h2>Holders</h2>
    <${z}
      caption="Holders"
      rows=${e}
      rowKey=${a=>a.token}
      empty=${r`<${R} title="Nobody holds a permit." />`}
      columns=${[["Holder",a=>r`${L(a.identity)}${a.identity?.holder_id&&r`<div class="sub">${a.identity.holder_id}</div>`}`,"name"],["State",a=>r`<span class="tone-${Po(a)}">${Lo(a)}</span>`],["Since",a=>r`<${pe} at=${a.granted_at} />`,"num"],["Time left",a=>r`<${Bt} at=${a.deadline} of=${N(a.duration)} />`,"num"],["Weight",a=>b(a.weight),"num"],["Token",a=>a.token,"num"],["For",a=>[We(a.firing),oa(a.metadata)].filter(Boolean).join("; ")||"–"],["",a=>a.state==="PERMIT_STATE_HELD"?r`<${q} role="ROLE_OPERATOR" semaphore=${a.semaphore} onClick=${()=>o({clear:a})}>Clear …<//>`:a.state==="PERMIT_STATE_COOLING"?null:r`<${q} role="ROLE_OPERATOR" semaphore=${a.semaphore} group=${a.identity?.group} acquirer=${a.identity?.acquirer} onClick=${()=>o({revoke:a})}>Revoke …<//>`,"end"]]}
    />
    ${n?.revoke&&r`<${ta} permit=${n.revoke} onClose=${s} onDone=${t} />`}
    ${n?.clear&&r`<${na} permit=${n.clear} onClose=${s} onDone=${t} />`}
  </section>`}function sa({data:e}){let t=n=>new Date(e.at-N(n.waiting)).toISOString();return r`<section class="panel">
    <h2>Queue</h2>
    <${z}
      caption="Waiters"
      rows=${e.waiters}
      rowKey=${n=>`${n.request_id}/${n.place}`}
      empty=${r`<${R} title="Nobody waits." />`}
      columns=${[["Place",n=>n.place||"idle worker","num"],["Waiter",n=>L(n.identity),"name"],["Weight",n=>b(n.weight),"num"],["Waiting for",n=>r`<${pe} at=${t(n)} />`,"num"]]}
      note=${e.next_page_token&&"More wait than are shown here."}
    />
    ${(e.tasks??[]).map(n=>r`<p key=${n.job}><a href=${`/jobs/${encodeURIComponent(n.job)}`}>${n.job}</a>: ${b(n.tasks)} tasks wait for a worker.</p>`)}
  </section>`}var aa=e=>`?${new URLSearchParams({tab:"explain",group:e.identity?.group??"",acquirer:e.identity?.acquirer??""})}`;function ia({rows:e,caption:t}){return r`<${z}
    caption=${t}
    rows=${e}
    rowKey=${n=>`${n.semaphore} ${L(n.identity)}`}
    columns=${[["Caller",n=>L(n.identity),"name"],["Why",n=>r`${n.message}<div class="sub">${A(n.reason,"REASON_")}${n.let_in&&`; ${L(n.let_in)} was let in, so it may be a standby`}${n.cured&&"; would not be denied now"}</div>`],["Times",n=>b(n.count),"num"],["Last",n=>r`<span title=${M(n.last)}><${pe} at=${n.last} /> ago</span>`,"num"],["",n=>r`<a href=${n.semaphore?aa(n):void 0}>Explain</a>`,"end"]]}
  />`}function la({name:e,events:t}){let n=x(o=>S("/v1/denied",{names:[e],cured:!0},o),["denied",e,t],{every:1e4,keep:!0});return r`<section class="panel">
    <h2>Denied</h2>
    <${H} of=${n} what="Reading who was denied">
      ${o=>r`
        ${o.callers?.length?r`<${ia} rows=${o.callers} caption="Callers that were denied" />`:r`<${R} title="Nobody is denied.">Callers show here when waiting does not help them${o.since?`; remembered since ${M(o.since)}`:""}.<//>`}
        ${o.misspelled?.length>0&&r`<h3>They may mean this semaphore</h3>
          <ul>${o.misspelled.map(s=>r`<li>${L(s.identity)} asks for <code>${s.semaphore}</code>, which does not exist.</li>`)}</ul>`}`}
    <//>
  </section>`}function xr({name:e,of:t}){return r`<div class="stack">
    <${H} of=${t.holders} what="Reading who holds it">${n=>r`<${ra} permits=${n} onChange=${t.read} />`}<//>
    <${Er} name=${e} permits=${t.holders.data??[]} events=${t.events} />
    <div class="panels">
      <${H} of=${t.waiters} what="Reading the queue">${n=>r`<${sa} data=${n} />`}<//>
      <${la} name=${e} events=${t.events} />
    </div>
  </div>`}function Qt(e={}){let t={};for(let n of _e){let o=e[n.name];switch(n.kind){case"labels":t[n.name]=Object.keys(o??{}).sort().map(s=>o[s]===""?s:`${s}=${o[s]}`).join(`
`);break;case"duration":t[n.name]=tt(o);break;case"flag":t[n.name]=o?"yes":"no";break;case"choice":t[n.name]=He(n,e);break;default:t[n.name]=String(o??(n.kind==="number"&&n.name==="max_attempts"?0:""))}}return t}function Tr(e,t={}){let n={...t},o={};for(let s of _e){let a=e[s.name]??"";try{let i=ca(s,a);i===void 0?delete n[s.name]:n[s.name]=i}catch(i){o[s.name]=i.message}}return{definition:n,errors:o}}function ca(e,t){switch(e.kind){case"labels":{let n={};for(let o of t.split(`
`).map(s=>s.trim()).filter(Boolean)){let s=o.indexOf("="),a=(s<0?o:o.slice(0,s)).trim();if(!a)throw new Error(`“${o}” has no key. Write key=value.`);if(Object.hasOwn(n,a))throw new Error(`The key ${a} stands here twice.`);Object.defineProperty(n,a,{value:s<0?"":o.slice(s+1).trim(),enumerable:!0})}return n}case"duration":return Oe(t);case"number":{if(t.trim()==="")return;if(!/^\d+$/.test(t.trim()))throw new Error(`“${t}” is not a whole number.`);return Number(t)}case"flag":return t==="yes";case"choice":return e.prefix+t.toUpperCase();case"pattern":if(t==="")throw new Error("An empty pattern would let nobody in. .* lets everybody in.");return t}return t}function Sr(e,t,n){let o={},s=[],a=[];for(let i of _e){let[l,u,d]=[e[i.name],t[i.name],n[i.name]];o[i.name]=u===l?d:u,u!==l&&d!==l&&u!==d&&(s.push(i.name),o[i.name]=d),(u!==l||d!==l)&&a.push({field:i,base:l,mine:u,theirs:d})}return{merged:o,conflicts:s,rows:a}}function Cr({of:e,base:t,onMerged:n,onCancel:o}){let{theirs:s,conflicts:a,rows:i}=e,[l,u]=g({}),d=a.filter(m=>!l[m]),c=()=>{let m={...e.merged};for(let p of i)l[p.field.name]&&(m[p.field.name]=p[l[p.field.name]]);n(m)},h=m=>{let p=m.field.name;if(!a.includes(p))return m.mine===m.theirs?r`<${Vt}>the same<//>`:m.mine!==m.base?r`<${Vt} tone="accent">yours<//>`:r`<${Vt} tone="wait">theirs<//>`;let f=(v,$)=>r`<label class="radio">
      <input type="radio" name=${`keep-${p}`} checked=${l[p]===v} onChange=${()=>u({...l,[p]:v})} /> ${$}
    </label>`;return r`<fieldset class="radios"><legend class="sr-only">Which ${m.field.label} to keep</legend>${f("mine","yours")}${f("theirs","theirs")}</fieldset>`};return r`<section class="panel conflict" aria-label="Conflict">
    <h2>Somebody else was faster</h2>
    <p role="alert">${s.updated_by||"Somebody"} saved version ${s.version} at ${M(s.updated_at)}${s.reason&&` (${s.reason})`}. You began
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
  </section>`}var jn=60;function Dr({name:e,group:t,acquirer:n}){let[o,s]=g({group:t,acquirer:n});T(()=>{let p=setTimeout(()=>s({group:t,acquirer:n}),250);return()=>clearTimeout(p)},[t,n]);let a=x(p=>Ee("/v1/known",{},"callers",p,1e3),["known"]),i=x(o.group&&o.acquirer?async p=>{let f={name:`${e.slice(0,60)}~pattern-test`,group_pattern:o.group,acquirer_pattern:o.acquirer};return(await C("/v1/preview",{edits:{edits:[{create:f}]}},p)).effects?.[0]??{}}:null,["patterns",o],{keep:!0}),l=a.data?.items??[],u=i.data?.eligible??i.data?.total_admitted??0,d=new Set((i.data?.admitted??[]).map(p=>`${p.acquirer} in ${p.group}`)),c=i.error&&!i.error.offline?i.error.fields?.[0]?.rule??i.error.message:"",h=d.size>=u,m=[...l].sort((p,f)=>d.has(`${f.acquirer} in ${f.group}`)-d.has(`${p.acquirer} in ${p.group}`));return r`<div class="pattern-test full" aria-live="polite">
    ${c?r`<p class="error">${c}</p>`:l.length===0?r`<p class="faint">Nobody was seen asking yet, so the patterns cannot be tried on anybody.</p>`:r`<p><strong class=${u?"tone-run":"tone-deny"}>These patterns let in ${u?b(u):"none"} of ${D(l.length,"known caller","known callers")}${a.data?.more?" and more":""}.</strong></p>
            <ul class="chips">${m.slice(0,jn).map(p=>{let f=`${p.acquirer} in ${p.group}`,v=d.has(f);return!v&&!h?null:r`<li key=${f} class=${v?"in":"out"}><span aria-hidden="true">${v?"✓":"✗"}</span><span class="sr-only">${v?"let in: ":"not let in: "}</span>${f}</li>`})}${l.length>jn&&r`<li class="out">and ${b(l.length-jn)} more</li>`}</ul>`}
  </div>`}var Rr={group_pattern:".*",acquirer_pattern:".*",permits:1,duration:"60s"};function Or({name:e,record:t,onSaved:n}){let[o,s]=F();if(o.get("edit")==="1"||!t)return r`<${ua} name=${e} record=${t} onSaved=${n} onDone=${()=>s({edit:""})} />`;let i=t.definition;return r`<section class="panel">
    <div class="title"><h2>Rule</h2>
      <${q} role="ROLE_EDITOR" semaphore=${e} kind="primary" onClick=${()=>s({edit:"1"},{replace:!1})}>Edit<//>
    </div>
    <${Ie} of=${_e.map(l=>[l.label,He(l,i)&&(l.kind==="pattern"?r`<code>${He(l,i)}</code>`:He(l,i))])} />
    <p class="faint">Version ${t.version}, ${M(t.updated_at)}${t.updated_by&&`, by ${t.updated_by}`}${t.reason&&`: ${t.reason}`}</p>
  </section>`}var Yt=["firing_on_loss","firing_retention","firing_limit","firing_max_ahead","max_attempts","misfire","misfire_window"];function ua({name:e,record:t,onSaved:n,onDone:o}){let[s,a]=g(t),[i,l]=g(()=>Qt(t?.definition??Rr)),[u,d]=g({}),[c,h]=g(!1),[m,p]=g(null),[f,v]=g({}),$=me(()=>Qt(s?.definition??Rr),[s]),{definition:w,errors:y}=Tr(i,s?.definition??{name:e}),O=!s||_e.some(_=>i[_.name]!==$[_.name]),I=Object.keys(y).length>0,k=t&&s&&t.version!==s.version?t:null;T(()=>{if(!O||!s)return;let _=ae=>ae.preventDefault();return addEventListener("beforeunload",_),()=>removeEventListener("beforeunload",_)},[O]);let Q=_=>ae=>{l(j=>({...j,[_]:ae})),v(j=>({...j,[_]:void 0}))},se=s?{replace:w,expected_version:s.version}:{create:{...w,name:e}},oe=()=>({edits:[se],...Ne(u.drain),...s?ze(u):{}}),le=_=>p({theirs:_,...Sr($,i,Qt(_.definition))}),G=_=>{if(_.reason==="STALE_VERSION")return S(ie`/v1/definitions/${e}`).then(j=>le(j.record),j=>ye(j.message,{tone:"deny"})),!0;let ae=_.fields?.filter(j=>_e.some(E=>j.field.endsWith(E.name)))??[];return ae.length===0?!1:(v(Object.fromEntries(ae.map(j=>[_e.find(E=>j.field.endsWith(E.name)).name,j.rule]))),!0)},V=_=>{let ae=y[_.name]??f[_.name],j=i[_.name],E={key:_.name,label:_.label,help:_.help,error:ae,class:j!==$[_.name]?"changed":""};if(_.kind==="flag")return r`<${ue} ...${E} checked=${j==="yes"} onChange=${te=>Q(_.name)(te?"yes":"no")} />`;if(_.kind==="choice")return r`<${Re} ...${E} value=${j} onChange=${Q(_.name)} options=${_.values.map(te=>[te.toLowerCase(),te.toLowerCase()])} />`;let W=_.kind==="labels"?3:_.name==="description"?2:void 0;return r`<${P} ...${E} value=${j} onInput=${Q(_.name)} area=${W} name=${_.name} inputmode=${_.kind==="number"?"numeric":void 0} />`},re=_=>{_.preventDefault(),!I&&O&&h(!0)};return m?r`<${Cr}
      of=${m}
      base=${s}
      onCancel=${()=>p(null)}
      onMerged=${_=>{a(m.theirs),l(_),p(null),h(!0)}}
    />`:r`<section class="panel">
    <div class="title"><h2>${s?"Edit the rule":"Create this semaphore"}</h2></div>
    ${k&&r`<p class="note" role="alert">${k.updated_by||"Somebody"} saved another version at ${M(k.updated_at)}, while you edit.
      <button type="button" onClick=${()=>le(k)}>Compare and merge</button></p>`}
    <form onSubmit=${re}>
      <div class="form">
        ${_e.filter(_=>!Yt.includes(_.name)&&_.kind!=="pattern"&&["description","labels"].includes(_.name)).map(V)}
        ${_e.filter(_=>_.kind==="pattern").map(V)}
        <${Dr} name=${e} group=${i.group_pattern} acquirer=${i.acquirer_pattern} />
        ${_e.filter(_=>!Yt.includes(_.name)&&_.kind!=="pattern"&&!["description","labels"].includes(_.name)).map(V)}
      </div>
      <details open=${Yt.some(_=>i[_]!==$[_]||y[_])}>
        <summary>Firings</summary>
        <div class="form">${_e.filter(_=>Yt.includes(_.name)).map(V)}</div>
      </details>
      <p class="row end sticky-end">
        ${O&&r`<span class="grow faint">Nothing is saved yet.</span>`}
        ${s&&r`<button type="button" onClick=${o}>${O?"Discard":"Back"}</button>`}
        <${q} role="ROLE_EDITOR" semaphore=${e} type="submit" kind="primary" why=${I?"A field has a mistake.":O?"":"Nothing was changed."}>Review and save …<//>
      </p>
    </form>
    ${c&&r`<${ve}
      title=${s?`Save ${e}`:`Create ${e}`}
      verb=${s?"Save":"Create"}
      role="ROLE_EDITOR"
      semaphore=${e}
      deps=${u}
      preview=${async _=>C("/v1/preview",{edits:oe()},_)}
      run=${async _=>C("/v1/definitions:edit",{...oe(),..._})}
      done=${_=>`${e} is ${s?"saved":"created"}, as change ${_.revision}.`}
      onError=${G}
      onClose=${()=>h(!1)}
      onDone=${()=>{n(),o()}}
    >
      ${s&&r`<details><summary>Only for a time, or with a drain</summary>
        <div class="form"><${ot} value=${u} set=${d} without="Then the old values come back. Empty: for good." /><${Je} value=${u} set=${d} /></div>
      </details>`}
    <//>`}
  </section>`}function Ar({name:e,events:t}){let n=x(s=>S("/v1/jobs",{semaphore:e,page_size:200},s),["jobs",e,t],{every:5e3,keep:!0}),o=x(s=>S("/v1/workers",{semaphore:e},s),["workers",e,t],{every:5e3,keep:!0});return r`<div class="stack">
    <section class="panel"><h2>Jobs</h2>
      <${H} of=${n} what="Reading the jobs">
        ${s=>s.jobs?.length?r`<${Dn} jobs=${s.jobs} />`:r`<${R} title="It has no jobs.">Submit one with gkctl job submit.<//>`}
      <//>
    </section>
    <section class="panel"><h2>Workers</h2>
      <${H} of=${o} what="Reading the workers">${s=>r`<${Rn} data=${s} />`}<//>
    </section>
  </div>`}var pa=[["now","Now"],["rule","Rule"],["history","History"],["firings","Firings"],["tasks","Tasks"],["explain","Explain"]],da=(e,t)=>e.map(n=>({...n,deadline:n.expires_in?t+N(n.expires_in):0}));function ma(e){let t=x(d=>S(ie`/v1/definitions/${e}`,{},d),["record",e],{every:15e3}),n=x(async d=>{let c=Date.now();return da((await Ee("/v1/holders",{names:[e]},"permits",d)).items,c)},["holders",e],{every:15e3}),o=x(async d=>({at:Date.now(),...await S("/v1/waiters",{names:[e],page_size:200},d)}),["waiters",e],{every:5e3}),[s,a]=g(null),[i,l]=g(0),u=Le(()=>{t.refresh(),n.refresh(),o.refresh(),l(d=>d+1)},40);return Ae("/v1/watch",{names:[e],permits:!0,live_every:"1s"},{open:d=>d&&u(),missed:u,message:({events:d=[]})=>d.length&&u(),live(d){let c=((d.live??d).semaphores??[]).find(p=>p.semaphore===e),h=Date.now(),m=new Map((c?.deadlines??[]).map(p=>[p.token,h+N(p.expires_in)]));n.set(p=>p?.map(f=>m.has(f.token)?{...f,deadline:m.get(f.token)}:f)),s&&(c?.waiters??0)!==s.waiters&&o.refresh(),a({waiters:c?.waiters??0})}}),{record:t,holders:n,waiters:o,live:s,events:i,read:u}}function fa({record:e,onChange:t}){let[n,o]=g(""),s=e.definition.name,a=()=>o("");return r`
    ${e.pause?r`<${q} role="ROLE_OPERATOR" semaphore=${s} onClick=${()=>o("resume")}>Resume …<//>`:r`<${q} role="ROLE_OPERATOR" semaphore=${s} onClick=${()=>o("pause")}>Pause …<//>`}
    <a class="button" href=${`/move?names=${encodeURIComponent(s)}`}>Move …</a>
    <${q} role="ROLE_EDITOR" semaphore=${s} kind="danger" onClick=${()=>o("delete")}>Delete …<//>
    ${n==="pause"&&r`<${_r} selector=${{names:[s]}} onClose=${a} onDone=${t} />`}
    ${n==="resume"&&r`<${vr} selector=${{names:[s]}} onClose=${a} onDone=${t} />`}
    ${n==="delete"&&r`<${ve}
      title=${`Delete ${s}`}
      verb="Delete it"
      kind="danger"
      role="ROLE_EDITOR"
      semaphore=${s}
      preview=${i=>C("/v1/preview",{edits:{edits:[{delete:s,expected_version:e.version}]}},i)}
      run=${i=>C("/v1/definitions:edit",{edits:[{delete:s,expected_version:e.version}],...i})}
      done=${()=>`${s} is deleted.`}
      onDone=${()=>he("/")}
      onClose=${a}
    />`}`}function ha({record:e,holders:t,live:n}){let o=Number(e.used??0),s=e.definition.permits??0;return r`<dl class="figures">
    <div><dt>In use</dt><dd class="num">${b(o)}<span class="faint"> / ${b(s)}</span></dd>
      <dd><${we} share=${s?o/s:o?1:0} label="${o} of ${s} permits in use" /></dd></div>
    <div><dt>Holders</dt><dd class="num">${b(t?.length??e.holders)}</dd></div>
    <div><dt>Queue</dt><dd class="num">${b(n?.waiters??e.waiters)}</dd></div>
  </dl>`}function Ir({name:e}){ne(e);let t=ma(e),[n]=F(),o=n.get("tab")??"now",s=t.record.data?.record,a=t.record.error?.code==="NOT_FOUND",i=a&&!s;return r`
    <${X} aside=${s&&r`<${fa} record=${s} onChange=${t.read} />`}>${e}<//>
    <${Ke} />
    ${a&&r`<p class="note">There is no definition of this name${s?" any more":""}. Its history and firings may still be known.</p>`}
    ${s&&!a&&r`<div class="standing">
      <p class="row">${yt(s).map(l=>r`<${kt} key=${l.value} value=${l.value} />`)}</p>
      ${Wt(s).map(l=>r`<p class="note">${l}</p>`)}
      <${ha} record=${s} holders=${t.holders.data} live=${t.live} />
    </div>`}
    ${t.record.error&&!a&&!t.record.error.offline&&r`<${U} error=${t.record.error} retry=${t.record.refresh} />`}
    <${lt} of=${pa} label="Parts of this semaphore" />
    ${!s&&!a?!t.record.error&&r`<${ge} what="Reading the semaphore" />`:o==="rule"?r`<${Or} key=${e} name=${e} record=${a?null:s} onSaved=${t.read} />`:o==="history"?r`<${wr} name=${e} events=${t.events} onChange=${t.read} />`:o==="firings"?r`<${yr} name=${e} events=${t.events} />`:o==="explain"?r`<${br} name=${e} />`:i?r`<${R} title="Nothing to show.">Create it under <a href="?tab=rule">Rule</a>, or look at its <a href="?tab=history">history</a>.<//>`:o==="tasks"?r`<${Ar} name=${e} events=${t.events} />`:r`<${xr} name=${e} of=${t} />`}`}var $a=[[/^\/$/,cr],[/^\/s\/(.+)$/,Ir],[/^\/move$/,hr],[/^\/activity$/,Jo],[/^\/jobs$/,er],[/^\/jobs\/(.+)$/,nr],[/^\/cluster$/,Xo],[/^\/access$/,Vo]];function ga(){return ne("No such page"),r`<${X}>No such page<//><${R} title="There is nothing at this address."><a href="/">Go to the overview</a><//>`}function _a(){let e=K(Ze).split("?")[0],t=K(je),[n,o]=g(!1),s=K(De);if(T(()=>{e!=="/login"&&!De.get()&&mn().catch(()=>{}).then(()=>o(!0))},[e==="/login",t]),e==="/login")return r`<${Kt} bare><${or} /><//>`;if(!s&&!n)return r`<${Kt} bare><${ge} what="Asking who you are" /><//>`;let[a,i]=_o(e,$a)??[ga,[]];return r`<${Kt}><${a} key=${e} name=${i[0]} /><//>`}eo(r`<${_a} />`,document.getElementById("app"));
//# sourceMappingURL=app.js.map
